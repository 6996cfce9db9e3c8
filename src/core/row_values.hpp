// How a walk down a tree reads the values of rows: one type for each way in which X may be stored.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "forest.hpp"

namespace sketchforest {

// Dense rows whose values lie side by side.
template <class T>
struct ContiguousRows {
    using Row = const T*;
    const T* values;
    std::int64_t row_stride;

    Row row(std::size_t i) const { return values + static_cast<std::int64_t>(i) * row_stride; }
    T value(Row row, std::uint32_t feature) const { return row[feature]; }
};

template <class T>
struct StridedRows {
    using Row = const T*;
    const T* values;
    std::int64_t row_stride, column_stride;

    Row row(std::size_t i) const { return values + static_cast<std::int64_t>(i) * row_stride; }
    T value(Row row, std::uint32_t feature) const {
        return row[static_cast<std::int64_t>(feature) * column_stride];
    }
};

// A few rows of sparse X, each a hash table of its non-zeros: memory and time depend on these, and
// not on the number of features.
template <class T>
class HashedRows {
    struct Slot {
        std::uint32_t feature = no_feature;
        T value = 0;
    };

  public:
    struct Row {
        const Slot* slots;
        std::uint32_t shift;
    };

    // Makes tables of rows [first, last), in place of those that were there.
    void fill(const SparseX<T>& x, std::size_t first, std::size_t last) {
        std::size_t n_slots = 0;
        tables_.clear();
        for (std::size_t row = first; row < last; ++row) {
            const int bits = table_bits(x.row_start[row + 1] - x.row_start[row]);
            tables_.push_back({n_slots, static_cast<std::uint32_t>(32 - bits)});
            n_slots += std::size_t{1} << bits;
        }
        slots_.assign(n_slots, Slot{});
        for (std::size_t row = first; row < last; ++row) {
            const auto [start, shift] = tables_[row - first];
            for (auto at = x.row_start[row]; at < x.row_start[row + 1]; ++at) {
                const auto feature = static_cast<std::uint32_t>(x.columns[at]);
                Slot& slot = slots_[start + find({slots_.data() + start, shift}, feature)];
                slot.feature = feature;
                slot.value += x.values[at];  // an entry that is stored twice counts twice
            }
        }
    }

    Row row(std::size_t i) const { return {slots_.data() + tables_[i].start, tables_[i].shift}; }
    T value(Row row, std::uint32_t feature) const { return row.slots[find(row, feature)].value; }

  private:
    struct Table {
        std::size_t start;
        std::uint32_t shift;  // from a hash of 32 bits to a slot
    };

    // Twice as many slots as entries, or more: nearly every feature is found, or found absent, at
    // the first one.
    static int table_bits(std::int64_t n_entries) {
        return std::clamp(
            static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n_entries))) + 1, 1, 32);
    }

    // The slot of the feature, or the empty one where it would be.
    static std::size_t find(Row row, std::uint32_t feature) {
        const std::uint32_t last = ~0u >> row.shift;
        std::uint32_t at = feature * golden >> row.shift;
        while (row.slots[at].feature != feature && row.slots[at].feature != no_feature)
            at = (at + 1) & last;
        return at;
    }

    static constexpr std::uint32_t no_feature = ~0u;
    static constexpr std::uint32_t golden = 0x9e3779b1;  // an odd number near 2^32 / phi

    std::vector<Table> tables_;
    std::vector<Slot> slots_;
};

}  // namespace sketchforest
