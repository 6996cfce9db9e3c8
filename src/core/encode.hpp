// From values to codes: the rank of each value among the distinct values of its feature, or a
// number that sorts as the value does.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "data.hpp"
#include "ranker.hpp"

namespace sketchforest {

// A byte of a boolean array, which may be any: a bool must be 0 or 1.
struct Boolean {
    std::uint8_t byte;
    operator bool() const { return byte != 0; }
};

template <class... T>
using PointerTo = std::variant<const T*...>;
using Numbers = PointerTo<float, double, Boolean, std::int8_t, std::uint8_t, std::int16_t,
                          std::uint16_t, std::int32_t, std::uint32_t, std::int64_t, std::uint64_t>;

// Dense X of any type of number; strides are counted in elements.
struct NumberMatrix {
    Numbers values;
    std::size_t n_rows, n_columns;
    std::int64_t row_stride, column_stride;
};

// Whether there are numbers of the type that a float does not hold.
bool needs_double(const Numbers& values);

// Codes columns [first, last) by rank, n_rows codes for each. Throws std::overflow_error where a
// feature has too many distinct values for the width of a code.
template <class T, class Code>
ValueTable<T> rank_columns(const NumberMatrix& x, std::size_t first, std::size_t last, Code* codes);

// Rows [first, last) of a table of codes by column, written by row.
template <class Code>
void transpose_codes(const Code* by_column, std::size_t n_rows, std::size_t n_columns,
                     std::size_t first, std::size_t last, Code* by_row);

// Codes rows [first, last) of X by value (see Codes), into tables by column and by row.
void code_by_value(const NumberMatrix& x, std::size_t first, std::size_t last,
                   std::uint32_t* by_column, std::uint32_t* by_row);

// In as few bytes as the largest code takes.
using NarrowCodes = std::variant<std::monostate, std::vector<std::uint8_t>,
                                 std::vector<std::uint16_t>, std::vector<std::uint32_t>>;

// Non-zeros of X by row, coded. There are no codes where each feature has one value besides zero.
template <class T>
struct SparseCodes {
    std::vector<std::int64_t> row_start;
    std::vector<std::int32_t> columns;
    NarrowCodes codes;
    std::vector<std::uint32_t> zero_code;
    std::vector<std::int32_t> column_size;  // non-zeros of each feature
    ValueTable<T> table;
};

// Entries of rows [row_start[i], row_start[i + 1]); explicit zeros are dropped. Half of it, where
// `stop` was requested. Throws std::invalid_argument where an entry lies outside of X.
template <class T>
SparseCodes<T> encode_sparse(std::span<const T> values, std::span<const std::int32_t> columns,
                             std::span<const std::int64_t> row_start, std::size_t n_features,
                             Stop& stop);

// The numbers of the bins of one column of codes: a bin reaches up to its edge, the last one up to
// the highest code. `edges` are ascending. Writes the lowest and the highest code of each bin.
void bin_codes(std::span<const std::uint32_t> codes, std::uint32_t missing_code,
               std::span<const std::uint32_t> edges, std::uint8_t* bins, std::uint32_t* lowest,
               std::uint32_t* highest);

}  // namespace sketchforest
