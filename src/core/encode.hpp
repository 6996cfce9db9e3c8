// From values to codes: the rank of each value among the distinct values of its feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sketchforest {

// The distinct values of some features, ascending, one feature after the other.
template <class T>
struct ValueTable {
    std::vector<T> values;
    std::vector<std::int64_t> counts;  // of each feature
};

template <class T>
class Ranker {
  public:
    // Ranks `values` into `ranks`, and appends their distinct values to the table. A missing value
    // gets the rank after the last one.
    void rank(std::span<const T> values, std::uint32_t* ranks, ValueTable<T>& table);

  private:
    std::vector<std::uint64_t> keys_, scratch_keys_;
    std::vector<std::uint32_t> rows_, scratch_rows_;
};

// Non-zeros of X by row, coded. `codes` is empty where each feature has one value besides zero.
template <class T>
struct SparseCodes {
    std::vector<std::int64_t> row_start;
    std::vector<std::int32_t> columns;
    std::vector<std::uint32_t> codes;
    std::vector<std::uint32_t> zero_code;
    ValueTable<T> table;
};

// Entries of rows [row_start[i], row_start[i + 1]); explicit zeros are dropped.
template <class T>
SparseCodes<T> encode_sparse(std::span<const T> values, std::span<const std::int32_t> columns,
                             std::span<const std::int64_t> row_start, std::size_t n_features);

}  // namespace sketchforest
