#include "encode.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <type_traits>

namespace sketchforest {
namespace {

// An unsigned number that sorts as the value does; -0.0 is 0.0.
template <class T>
std::uint64_t sort_key(T value) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    const Bits bits = std::bit_cast<Bits>(value == 0 ? T{0} : value);
    return bits & sign ? static_cast<Bits>(~bits) : bits | sign;
}

constexpr int digit_bits = 11;
constexpr std::size_t n_digits = std::size_t{1} << digit_bits;

}  // namespace

template <class T>
void Ranker<T>::rank(std::span<const T> values, std::uint32_t* ranks, ValueTable<T>& table) {
    keys_.clear();
    rows_.clear();
    for (std::size_t row = 0; row < values.size(); ++row) {
        if (std::isnan(values[row])) continue;
        keys_.push_back(sort_key(values[row]));
        rows_.push_back(static_cast<std::uint32_t>(row));
    }
    const std::size_t n = keys_.size();
    scratch_keys_.resize(n);
    scratch_rows_.resize(n);
    // Radix sort from the lowest digit; a digit that all keys share needs no pass.
    for (int shift = 0; shift < static_cast<int>(8 * sizeof(T)); shift += digit_bits) {
        const auto digit = [shift](std::uint64_t key) { return (key >> shift) & (n_digits - 1); };
        std::array<std::uint32_t, n_digits> at{};
        for (const std::uint64_t key : keys_) ++at[digit(key)];
        if (n == 0 || at[digit(keys_[0])] == n) continue;
        std::exclusive_scan(at.begin(), at.end(), at.begin(), 0u);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t to = at[digit(keys_[i])]++;
            scratch_keys_[to] = keys_[i];
            scratch_rows_[to] = rows_[i];
        }
        keys_.swap(scratch_keys_);
        rows_.swap(scratch_rows_);
    }
    std::uint32_t n_distinct = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (i == 0 || keys_[i] != keys_[i - 1]) {
            table.values.push_back(values[rows_[i]] == 0 ? T{0} : values[rows_[i]]);
            ++n_distinct;
        }
        ranks[rows_[i]] = n_distinct - 1;
    }
    if (n < values.size())
        for (std::size_t row = 0; row < values.size(); ++row)
            if (std::isnan(values[row])) ranks[row] = n_distinct;
    table.counts.push_back(n_distinct);
}

template <class T>
SparseCodes<T> encode_sparse(std::span<const T> values, std::span<const std::int32_t> columns,
                             std::span<const std::int64_t> row_start, std::size_t n_features) {
    SparseCodes<T> coded;
    const std::size_t n_rows = row_start.size() - 1;
    coded.row_start.reserve(n_rows + 1);
    coded.row_start.push_back(0);
    coded.columns.reserve(columns.size());
    std::vector<std::int64_t> column_start(n_features + 1, 0);
    std::vector<T> first_value(n_features, T{0});
    bool one_value_each = true;
    for (std::size_t row = 0; row < n_rows; ++row) {
        for (std::int64_t at = row_start[row]; at < row_start[row + 1]; ++at) {
            if (values[at] == 0) continue;
            const std::int32_t column = columns[at];
            coded.columns.push_back(column);
            if (++column_start[column + 1] == 1) first_value[column] = values[at];
            one_value_each &= values[at] == first_value[column] ||
                              (std::isnan(values[at]) && std::isnan(first_value[column]));
        }
        coded.row_start.push_back(static_cast<std::int64_t>(coded.columns.size()));
    }
    coded.zero_code.resize(n_features);

    if (one_value_each) {
        for (std::size_t feature = 0; feature < n_features; ++feature) {
            const T value = first_value[feature];
            if (value < 0) coded.table.values.push_back(value);
            coded.table.values.push_back(0);
            if (value > 0) coded.table.values.push_back(value);
            coded.table.counts.push_back(1 + (value < 0 || value > 0));
            coded.zero_code[feature] = value < 0;
        }
        return coded;
    }

    // Column by column: rank the values together with one zero, and put the ranks back by row.
    std::partial_sum(column_start.begin(), column_start.end(), column_start.begin());
    std::vector<T> by_column(coded.columns.size());
    std::vector<std::int64_t> place(coded.columns.size());  // of an entry, in order of columns
    {
        std::vector<std::int64_t> next(column_start.begin(), column_start.end() - 1);
        std::int64_t kept = 0;
        for (std::size_t at = 0; at < values.size(); ++at) {
            if (values[at] == 0) continue;
            const std::int64_t to = next[columns[at]]++;
            by_column[to] = values[at];
            place[to] = kept++;
        }
    }
    coded.codes.resize(coded.columns.size());
    Ranker<T> ranker;
    std::vector<T> column;
    std::vector<std::uint32_t> ranks;
    for (std::size_t feature = 0; feature < n_features; ++feature) {
        const std::int64_t begin = column_start[feature], end = column_start[feature + 1];
        column.assign(by_column.begin() + begin, by_column.begin() + end);
        column.push_back(0);
        ranks.resize(column.size());
        ranker.rank(column, ranks.data(), coded.table);
        for (std::int64_t at = begin; at < end; ++at) coded.codes[place[at]] = ranks[at - begin];
        coded.zero_code[feature] = ranks.back();
    }
    return coded;
}

template class Ranker<float>;
template class Ranker<double>;
template SparseCodes<float> encode_sparse(std::span<const float>, std::span<const std::int32_t>,
                                          std::span<const std::int64_t>, std::size_t);
template SparseCodes<double> encode_sparse(std::span<const double>, std::span<const std::int32_t>,
                                           std::span<const std::int64_t>, std::size_t);

}  // namespace sketchforest
