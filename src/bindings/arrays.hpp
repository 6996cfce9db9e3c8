// Conversion between NumPy arrays and what the core reads and returns.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "data.hpp"

namespace sketchforest {

namespace nb = nanobind;
using namespace nb::literals;

// An array whose numbers lie at multiples of their size. numpy has others (a view of bytes, say),
// which vector instructions must not read: these are copied where an argument may be converted.
template <class... Args>
struct Aligned : nb::ndarray<Args...> {
    using Array = nb::ndarray<Args...>;
    using Array::Array;

    bool is_aligned() const {
        const auto address = reinterpret_cast<std::uintptr_t>(this->data());
        return this->size() == 0 || address % this->itemsize() == 0;
    }
};

template <class T>
using Vector = Aligned<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = Aligned<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutMatrix = Aligned<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyMatrix = Aligned<nb::ro, nb::ndim<2>, nb::device::cpu>;

// Raised in Python as ValueError.
inline void require(bool holds, const char* reason) {
    if (!holds) throw std::invalid_argument(reason);
}

template <class T>
std::span<const T> to_span(const Vector<T>& array) {
    return {array.data(), array.size()};
}

// A numpy array that owns the vector's memory, whose numbers may be read as others of their size;
// of structs of several numbers, a matrix.
template <class As, class T>
nb::object to_array(std::vector<T>&& vector) {
    static_assert(sizeof(T) % sizeof(As) == 0);
    auto* owned = new std::vector<T>(std::move(vector));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    const std::size_t shape[] = {owned->size(), sizeof(T) / sizeof(As)};
    return nb::ndarray<nb::numpy, As>(owned->data(), shape[1] > 1 ? 2 : 1, shape, owner).cast();
}
template <class T>
nb::object to_array(std::vector<T>&& vector) {
    return to_array<T, T>(std::move(vector));
}

inline nb::object to_array(std::monostate) {
    return nb::none();
}

template <class... T>
nb::tuple to_arrays(std::vector<T>&... vectors) {
    return nb::make_tuple(to_array(std::move(vectors))...);
}

template <class T>
std::pair<T*, nb::object> new_matrix(std::size_t n_rows, std::size_t n_columns) {
    if (n_columns > 0 && n_rows > PTRDIFF_MAX / sizeof(T) / n_columns) throw std::bad_alloc();
    auto* data = new T[std::max<std::size_t>(n_rows * n_columns, 1)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return {data, nb::ndarray<nb::numpy, T>(data, {n_rows, n_columns}, owner).cast()};
}

// numpy.ndarray, which is looked up where the module is made.
inline nb::handle numpy_array;

// The parts of the module, by subject.
void bind_boosting(nb::module_& m);
void bind_encoding(nb::module_& m);
void bind_growing(nb::module_& m);
void bind_held(nb::module_& m);
void bind_hierarchy(nb::module_& m);
void bind_predicting(nb::module_& m);
void bind_ranking(nb::module_& m);

}  // namespace sketchforest

template <class... Args>
struct nanobind::detail::type_caster<sketchforest::Aligned<Args...>> {
    using Caster = make_caster<ndarray<Args...>>;
    NB_TYPE_CASTER(sketchforest::Aligned<Args...>, Caster::Name)

    bool from_python(handle src, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        if (read(src, flags, cleanup)) return true;
        if (!value.is_valid() || !(flags & cast_flags::convert)) return false;
        const object copy = steal(PyObject_CallMethod(src.ptr(), "copy", nullptr));
        PyErr_Clear();
        return copy.is_valid() && read(copy, flags, cleanup);
    }

  private:
    bool read(handle src, std::uint32_t flags, cleanup_list* cleanup) noexcept {
        // nanobind takes the buffer of any object, and walks strides that a datetime64 does not
        // have.
        auto* const type = reinterpret_cast<PyTypeObject*>(sketchforest::numpy_array.ptr());
        if (!PyObject_TypeCheck(src.ptr(), type)) return false;
        Caster caster;
        if (!caster.from_python(src, flags, cleanup)) return false;
        static_cast<ndarray<Args...>&>(value) = std::move(caster.value);
        return value.is_aligned();
    }
};
