#include <cmath>
#include <numeric>

#include "encode.hpp"

namespace sketchforest {

constexpr std::size_t asked_after = 1 << 16;  // entries, whether to stop

template <class T>
SparseCodes<T> encode_sparse(std::span<const T> values, std::span<const std::int32_t> columns,
                             std::span<const std::int64_t> row_start, std::size_t n_features,
                             Stop& stop) {
    SparseCodes<T> coded;
    const std::size_t n_rows = row_start.size() - 1;
    coded.row_start.reserve(n_rows + 1);
    coded.row_start.push_back(0);
    coded.columns.reserve(columns.size());
    std::vector<std::int64_t> column_start(n_features + 1, 0);
    std::vector<T> first_value(n_features, T{0});
    bool one_value_each = true;
    for (std::size_t row = 0; row < n_rows; ++row) {
        if (stop.requested(1 + static_cast<std::size_t>(row_start[row + 1] - row_start[row])))
            return coded;
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
            if (at % asked_after == 0 && stop.requested(asked_after)) return coded;
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
        if (stop.requested(1 + static_cast<std::size_t>(end - begin))) return coded;
        column.assign(by_column.begin() + begin, by_column.begin() + end);
        column.push_back(0);
        ranks.resize(column.size());
        ranker.rank(column, ranks.data(), coded.table);
        for (std::int64_t at = begin; at < end; ++at) coded.codes[place[at]] = ranks[at - begin];
        coded.zero_code[feature] = ranks.back();
    }
    return coded;
}

template SparseCodes<float> encode_sparse(std::span<const float>, std::span<const std::int32_t>,
                                          std::span<const std::int64_t>, std::size_t, Stop&);
template SparseCodes<double> encode_sparse(std::span<const double>, std::span<const std::int32_t>,
                                           std::span<const std::int64_t>, std::size_t, Stop&);

}  // namespace sketchforest
