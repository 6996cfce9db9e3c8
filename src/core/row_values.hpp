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

// Some rows of sparse X, each with a byte a feature: where among the row's entries that feature is.
// A row takes so little room that many stay in the cache, and an absent feature is known by a byte.
template <class T>
class MarkedRows {
    using Mark = std::uint8_t;

  public:
    struct Row {
        const Mark* marks;  // one that each row has, then those of the features
        std::size_t index;

        bool has(std::uint32_t mark) const { return marks[mark] != 0; }
    };

    MarkedRows(const SparseX<T>& x, std::size_t most_rows)
        : x_(x), width_(x.n_features + 1), marks_(most_rows * width_) {
        for (std::size_t i = 0; i < most_rows; ++i) marks_[i * width_] = searched;
    }

    // Marks rows [first, last), in place of those that were there.
    void fill(std::size_t first, std::size_t last) {
        each_entry([](Mark& mark, std::int64_t) { mark = 0; });
        first_ = first, last_ = last;
        each_entry([](Mark& mark, std::int64_t place) {
            mark = mark == 0 && place + 1 < searched ? static_cast<Mark>(place + 1) : searched;
        });
    }

    Row row(std::size_t i) const { return {marks_.data() + i * width_, first_ + i}; }
    T value(Row row, std::uint32_t feature) const {
        const Mark mark = row.marks[feature + 1];
        if (mark == 0) return 0;
        if (mark != searched) return x_.values[x_.row_start[row.index] + mark - 1];
        T sum = 0;  // an entry that is stored twice counts twice
        for (auto at = x_.row_start[row.index]; at < x_.row_start[row.index + 1]; ++at)
            if (static_cast<std::uint32_t>(x_.columns[at]) == feature) sum += x_.values[at];
        return sum;
    }

  private:
    static constexpr Mark searched = 255;  // entries past the 254th, and those stored twice

    template <class Visit>
    void each_entry(Visit visit) {
        for (std::size_t row = first_; row < last_; ++row) {
            const std::int64_t start = x_.row_start[row];
            Mark* marks = marks_.data() + (row - first_) * width_ + 1;
            for (auto at = start; at < x_.row_start[row + 1]; ++at)
                visit(marks[x_.columns[at]], at - start);
        }
    }

    const SparseX<T>& x_;
    std::size_t width_, first_ = 0, last_ = 0;
    std::vector<Mark> marks_;
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
