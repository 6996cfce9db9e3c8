#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "encode.hpp"

namespace sketchforest {
namespace {

constexpr std::size_t asked_after = 1 << 16;  // entries, whether to stop

constexpr const char* has_changed =
    "X must stay as it is while trees are grown; its zeros changed. Fit on a copy.";

// A copy, so that what is checked here is what is used below.
std::vector<std::int64_t> checked_starts(std::span<const std::int64_t> row_start,
                                         std::size_t n_columns, std::size_t n_values) {
    std::vector<std::int64_t> starts(row_start.begin(), row_start.end());
    if (starts.empty() || starts.front() != 0 || !std::ranges::is_sorted(starts) ||
        n_columns != n_values || static_cast<std::size_t>(starts.back()) != n_values)
        throw std::invalid_argument(
            "X must be sparse with an indptr that ascends from 0 to the number of its values; got "
            "another. Build it anew from its entries.");
    return starts;
}

template <class Code>
std::vector<Code> narrowed(const std::vector<std::uint32_t>& codes) {
    std::vector<Code> narrow(codes.size());
    std::ranges::transform(codes, narrow.begin(),
                           [](std::uint32_t code) { return static_cast<Code>(code); });
    return narrow;
}

// `most`: the largest number of values of a feature, which is the code of a missing one.
NarrowCodes narrow(std::vector<std::uint32_t>&& codes, std::int64_t most) {
    if (most < std::numeric_limits<std::uint8_t>::max()) return narrowed<std::uint8_t>(codes);
    if (most < std::numeric_limits<std::uint16_t>::max()) return narrowed<std::uint16_t>(codes);
    return std::move(codes);
}

}  // namespace

template <class T>
SparseCodes<T> encode_sparse(std::span<const T> values, std::span<const std::int32_t> columns,
                             std::span<const std::int64_t> row_start, std::size_t n_features,
                             Stop& stop) {
    SparseCodes<T> coded;
    const std::vector<std::int64_t> starts =
        checked_starts(row_start, columns.size(), values.size());
    const std::size_t n_rows = starts.size() - 1;
    coded.row_start.reserve(n_rows + 1);
    coded.row_start.push_back(0);
    coded.columns.reserve(columns.size());
    std::vector<std::int64_t> column_start(n_features + 1, 0);
    std::vector<T> first_value(n_features, T{0});
    bool one_value_each = true;
    for (std::size_t row = 0; row < n_rows; ++row) {
        if (stop.requested(1 + static_cast<std::size_t>(starts[row + 1] - starts[row])))
            return coded;
        for (std::int64_t at = starts[row]; at < starts[row + 1]; ++at) {
            const T value = values[at];
            if (value == 0) continue;
            const std::int32_t column = columns[at];
            if (column < 0 || static_cast<std::size_t>(column) >= n_features)
                throw std::invalid_argument(
                    "X must be sparse with a column for each index; got index " +
                    std::to_string(column) + " for " + std::to_string(n_features) +
                    " columns. Build it anew from its entries.");
            coded.columns.push_back(column);
            if (++column_start[column + 1] == 1) first_value[column] = value;
            one_value_each &= value == first_value[column] ||
                              (std::isnan(value) && std::isnan(first_value[column]));
        }
        coded.row_start.push_back(static_cast<std::int64_t>(coded.columns.size()));
    }
    coded.zero_code.resize(n_features);
    coded.column_size.assign(column_start.begin() + 1, column_start.end());

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
    // Another thread may have changed the values meanwhile: what is counted must be what is placed.
    const auto n_kept = static_cast<std::int64_t>(coded.columns.size());
    std::partial_sum(column_start.begin(), column_start.end(), column_start.begin());
    std::vector<T> by_column(coded.columns.size());
    std::vector<std::int64_t> place(coded.columns.size());  // of an entry, in order of columns
    {
        std::vector<std::int64_t> next(column_start.begin(), column_start.end() - 1);
        std::int64_t kept = 0;
        for (std::size_t at = 0; at < values.size(); ++at) {
            if (at % asked_after == 0 && stop.requested(asked_after)) return coded;
            const T value = values[at];
            if (value == 0) continue;
            if (kept == n_kept) throw std::invalid_argument(has_changed);
            const std::int64_t to = next[coded.columns[kept]]++;
            by_column[to] = value;
            place[to] = kept++;
        }
        if (kept < n_kept) throw std::invalid_argument(has_changed);
    }
    std::vector<std::uint32_t> codes(coded.columns.size());
    Ranker<T> ranker;
    std::vector<T> column;
    std::vector<std::uint32_t> ranks;
    for (std::size_t feature = 0; feature < n_features; ++feature) {
        const std::int64_t begin = column_start[feature], end = column_start[feature + 1];
        if (stop.requested(1 + static_cast<std::size_t>(end - begin))) return coded;
        column.assign(by_column.begin() + begin, by_column.begin() + end);
        column.push_back(0);
        ranks.resize(column.size());
        ranker.rank(column, ranks.data(), coded.table);
        for (std::int64_t at = begin; at < end; ++at) codes[place[at]] = ranks[at - begin];
        coded.zero_code[feature] = ranks.back();
    }
    // These take more than the codes, of which there are two in what follows.
    by_column = std::vector<T>(), place = std::vector<std::int64_t>();
    coded.codes = narrow(std::move(codes), std::ranges::max(coded.table.counts));
    return coded;
}

template SparseCodes<float> encode_sparse(std::span<const float>, std::span<const std::int32_t>,
                                          std::span<const std::int64_t>, std::size_t, Stop&);
template SparseCodes<double> encode_sparse(std::span<const double>, std::span<const std::int32_t>,
                                           std::span<const std::int64_t>, std::size_t, Stop&);

}  // namespace sketchforest
