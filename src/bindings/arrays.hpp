// Arrays of numpy as the core sees them, and the other way round.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "data.hpp"

namespace sketchforest {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
template <class T>
using OutMatrix = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

// Raised in Python as ValueError.
inline void require(bool holds, const char* reason) {
    if (!holds) throw std::invalid_argument(reason);
}

template <class T>
std::span<const T> to_span(const Vector<T>& array) {
    return {array.data(), array.size()};
}

// A numpy array that owns the vector's memory, whose numbers may be read as others of their size.
template <class As, class T>
nb::object to_array(std::vector<T>&& vector) {
    static_assert(sizeof(As) == sizeof(T));
    auto* owned = new std::vector<T>(std::move(vector));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, As>(owned->data(), {owned->size()}, owner).cast();
}
template <class T>
nb::object to_array(std::vector<T>&& vector) {
    return to_array<T, T>(std::move(vector));
}

template <class T>
std::pair<T*, nb::object> new_matrix(std::size_t n_rows, std::size_t n_columns) {
    if (n_columns > 0 && n_rows > PTRDIFF_MAX / sizeof(T) / n_columns) throw std::bad_alloc();
    auto* data = new T[std::max<std::size_t>(n_rows * n_columns, 1)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return {data, nb::ndarray<nb::numpy, T>(data, {n_rows, n_columns}, owner).cast()};
}

// The parts of the module, by subject.
void bind_encoding(nb::module_& m);
void bind_growing(nb::module_& m);
void bind_held(nb::module_& m);
void bind_oblique(nb::module_& m);
void bind_predicting(nb::module_& m);
void bind_ranking(nb::module_& m);

}  // namespace sketchforest
