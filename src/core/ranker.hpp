// The rank of each value among the distinct values of its feature.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace sketchforest {

// The distinct values of some features, ascending, one feature after the other.
template <class T>
struct ValueTable {
    std::vector<T> values;
    std::vector<std::int64_t> counts;  // of each feature

    // The place of the first value of each feature, and the end.
    std::vector<std::int64_t> starts() const;
};

template <class T>
class Ranker {
  public:
    // Ranks `values` into `ranks`, and appends their distinct values to the table. A missing value
    // gets the rank after the last one.
    void rank(std::span<const T> values, std::uint32_t* ranks, ValueTable<T>& table);

  private:
    using Key = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

    static Key sort_key(T value);

    std::vector<Key> keys_, scratch_keys_;
    std::vector<std::uint32_t> rows_, scratch_rows_;
};

}  // namespace sketchforest
