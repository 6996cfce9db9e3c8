// Arrays of numpy as the core sees them, and the other way round.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
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
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

// A numpy array that owns the vector's memory.
template <class T>
nb::object to_array(std::vector<T>&& vector) {
    auto* owned = new std::vector<T>(std::move(vector));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(owned->data(), {owned->size()}, owner).cast();
}

template <class T>
std::pair<T*, nb::object> new_matrix(std::size_t n_rows, std::size_t n_columns) {
    auto* data = new T[std::max<std::size_t>(n_rows * n_columns, 1)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return {data, nb::ndarray<nb::numpy, T>(data, {n_rows, n_columns}, owner).cast()};
}

// The array itself, never a converted copy, whose memory would be gone when the call returns.
template <class Array>
Array view(nb::handle array) {
    return nb::cast<Array>(array, false);
}

template <class T>
const T* pointer_or_null(nb::handle array) {
    return array.is_none() ? nullptr : view<Vector<T>>(array).data();
}

inline SparseRows to_sparse_rows(nb::handle csr) {
    SparseRows rows;
    rows.row_start = pointer_or_null<std::int64_t>(csr.attr("row_start"));
    rows.columns = pointer_or_null<std::int32_t>(csr.attr("columns"));
    rows.values = pointer_or_null<float>(csr.attr("values"));
    rows.n_columns = nb::cast<std::size_t>(csr.attr("n_columns"));
    return rows;
}

// The parts of the module, by subject.
void bind_encoding(nb::module_& m);
void bind_growing(nb::module_& m);
void bind_oblique(nb::module_& m);
void bind_predicting(nb::module_& m);
void bind_ranking(nb::module_& m);

}  // namespace sketchforest
