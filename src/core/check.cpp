#include "check.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "check_arrays.hpp"
#include "team.hpp"

namespace sketchforest {
namespace {

// The codes by row and by column must agree: if a node is split by one and partitioned by the
// other, growing might never end. Compared in tiles of a few rows, so that memory is fetched once.
template <class Code>
bool are_transposed(const Codes& codes, std::size_t first, std::size_t end) {
    constexpr std::size_t tile_rows = 32;
    const auto* rows = static_cast<const Code*>(codes.row_codes);
    for (std::size_t begin = first; begin < end; begin += tile_rows) {
        const std::size_t n = std::min(tile_rows, end - begin);
        for (std::size_t feature = 0; feature < codes.n_features; ++feature) {
            const Code* own = rows + begin * codes.n_features + feature;
            const Code* column =
                static_cast<const Code*>(codes.codes) + feature * codes.n_rows + begin;
            if (!all_of(n, [&](std::size_t i) { return own[i * codes.n_features] == column[i]; }))
                return false;
        }
    }
    return true;
}

// Nodes are split by bins and partitioned by codes.
template <class Code>
bool are_bins(const Codes& codes, std::size_t feature, const Code* column) {
    const std::size_t n_bins = codes.n_bins(feature);
    const std::uint32_t* lowest = codes.bin_lowest + codes.bin_start[feature];
    const std::uint32_t* highest = codes.bin_highest + codes.bin_start[feature];
    const std::uint32_t missing = codes.missing_code(feature);
    for (std::size_t bin = 0; bin < n_bins; ++bin)
        if (lowest[bin] > highest[bin] || (bin > 0 && highest[bin - 1] >= lowest[bin]))
            return false;
    const std::uint8_t* bins = codes.bins + feature * codes.n_rows;
    return (n_bins == 0 || highest[n_bins - 1] < missing) &&
           all_of(codes.n_rows, [&](std::size_t i) {
               if (bins[i] >= n_bins) return bins[i] == n_bins && column[i] == missing;
               return lowest[bins[i]] <= column[i] && column[i] <= highest[bins[i]];
           });
}

// Codes of a feature: ranks of its values, and one more that says missing. By value: floats. An
// entry of sparse X is no zero: the rows of a node that have none are told from its zeros by that.
template <class Code>
bool are_codes(const Codes& codes, std::size_t n_entries, Team& team) {
    const auto* given = static_cast<const Code*>(codes.codes);
    if (codes.sparse)
        return all_of(n_entries, [&](std::size_t i) {
            const auto feature = static_cast<std::size_t>(codes.columns[i]);
            return (given[i] <= codes.missing_code(feature)) &
                   (given[i] != codes.zero_code[feature]);
        });
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::uint32_t lowest = sortable(-infinity), highest = sortable(infinity);
    std::atomic<bool> is_wrong = false;
    team.run(codes.n_features, [&](std::size_t feature) {
        const Code* column = given + feature * codes.n_rows;
        const std::uint32_t missing = codes.missing_code(feature);
        const bool are_right =
            codes.by_value
                ? all_of(codes.n_rows,
                         [&](std::size_t i) {
                             return ((lowest <= column[i]) & (column[i] <= highest)) |
                                    (column[i] == missing);
                         })
                : all_of(codes.n_rows, [&](std::size_t i) { return column[i] <= missing; });
        if (!are_right || (codes.bins && !are_bins(codes, feature, column))) is_wrong = true;
    });
    if (!codes.row_codes) return !is_wrong;
    constexpr std::size_t piece_rows = 4096;
    team.run((codes.n_rows + piece_rows - 1) / piece_rows, [&](std::size_t piece) {
        const std::size_t first = piece * piece_rows;
        if (!are_transposed<Code>(codes, first, std::min(first + piece_rows, codes.n_rows)))
            is_wrong = true;
    });
    return !is_wrong;
}

// The values of each feature, ascending; of sparse X, with a zero where it should be.
template <class T>
bool are_values(const Codes& codes) {
    const auto* values = static_cast<const T*>(codes.values);
    bool is_wrong = false;
    for (std::size_t feature = 0; feature < codes.n_features; ++feature) {
        const std::int64_t begin = codes.value_start[feature], end = codes.value_start[feature + 1];
        for (std::int64_t at = begin; at < end; ++at)
            is_wrong |= std::isnan(values[at]) | (at > begin && !(values[at - 1] < values[at]));
        if (codes.sparse) is_wrong |= values[begin + codes.zero_code[feature]] != 0;
    }
    return !is_wrong;
}

}  // namespace

void check_starts(std::span<const std::int64_t> starts, std::size_t end, const char* reason) {
    require(are_starts(starts, end), reason);
}

void check(const SparseRows& rows, std::size_t n_rows, std::size_t n_entries) {
    require(rows.n_columns <= std::numeric_limits<std::int32_t>::max(),
            "there are too many labels");
    require(are_starts({rows.row_start, n_rows + 1}, n_entries), "labels do not add up");
    require(are_below(std::span(rows.columns, n_entries), rows.n_columns),
            "labels are out of range");
    require(are_ascending(rows.row_start, rows.columns, n_rows),
            "labels of a row are not in order");
    require(!rows.values || are_finite(std::span(rows.values, n_entries)),
            "a label is not a finite number");
}

void check(const FloatRows& x, std::size_t n_entries) {
    require(x.n_rows <= most_rows && x.n_features <= most_features,
            "there are too many rows or features");
    check_finite({x.values, x.is_sparse() ? n_entries : x.n_rows * x.stride});
    if (!x.is_sparse()) return;
    require(are_starts({x.row_start, x.n_rows + 1}, n_entries), "features do not add up");
    require(are_below(std::span(x.columns, n_entries), x.n_features), "features are out of range");
    require(are_ascending(x.row_start, x.columns, x.n_rows), "features of a row are not in order");
}

void check_entries(std::span<const std::int64_t> row_start, std::span<const std::int32_t> columns,
                   std::size_t n_features) {
    require(are_starts(row_start, columns.size()), "row starts of X do not add up");
    require(are_below(columns, n_features), "column numbers of X are out of range");
}

void check_labels(std::span<const std::int64_t> row_start, std::span<const std::int64_t> labels,
                  std::size_t n_labels) {
    require(n_labels <= std::numeric_limits<std::int64_t>::max(), "there are too many labels");
    require(are_starts(row_start, labels.size()), "labels do not add up");
    require(are_below(labels, n_labels), "labels are out of range");
    require(are_ascending(row_start.data(), labels.data(), row_start.size() - 1),
            "labels of a row are not in order");
}

void check(const Codes& codes, const CodesExtent& extent, std::size_t n_threads) {
    constexpr const char* reason = "codes do not fit the values";
    if (!codes.by_value) {
        require(are_starts({codes.value_start, codes.n_features + 1}, extent.n_values), reason);
        require(all_of(codes.n_features,
                       [&](std::size_t i) {
                           return codes.value_start[i + 1] - codes.value_start[i] < 0xffffffff;
                       }),
                reason);
    }
    if (codes.bins) {
        require(are_starts({codes.bin_start, codes.n_features + 1}, extent.n_bins), reason);
        require(all_of(codes.n_features, [&](std::size_t i) { return codes.n_bins(i) <= 255; }),
                "a feature must have at most 255 bins");
    }
    if (codes.sparse) {
        require(!codes.by_value && !codes.bins, reason);
        require(are_starts({codes.row_start, codes.n_rows + 1}, extent.n_entries),
                "features do not add up");
        const std::span columns(codes.columns, extent.n_entries);
        require(are_below(columns, codes.n_features), "features are out of range");
        require(are_ascending(codes.row_start, codes.columns, codes.n_rows),
                "features of a row are not in order");
        std::vector<std::int64_t> size(codes.n_features);
        for (const std::int32_t column : columns) ++size[column];
        require(all_of(codes.n_features,
                       [&](std::size_t i) {
                           return (size[i] == codes.column_size[i]) &
                                  (codes.zero_code[i] < codes.missing_code(i));
                       }),
                reason);
        // Without codes an entry is the one value besides zero, or the one that is missing.
        require(
            codes.code_bytes > 0 ||
                all_of(codes.n_features, [&](std::size_t i) { return codes.missing_code(i) <= 2; }),
            reason);
    }
    if (!codes.by_value)
        require(codes.wide_values ? are_values<double>(codes) : are_values<float>(codes),
                "values of a feature must ascend, and have a zero where X is sparse");
    // Starting threads takes as long as checking some thousand codes.
    Team team(codes.n_rows * codes.n_features < 1 << 20 ? 1 : n_threads);
    const bool are_right =
        codes.code_bytes == 0 ||
        (codes.code_bytes == 1   ? are_codes<std::uint8_t>(codes, extent.n_entries, team)
         : codes.code_bytes == 2 ? are_codes<std::uint16_t>(codes, extent.n_entries, team)
                                 : are_codes<std::uint32_t>(codes, extent.n_entries, team));
    require(are_right, reason);
}

static void check_n_threads(std::uint32_t n_threads) {
    require(0 < n_threads && n_threads <= 4096, "n_threads must be between 1 and 4096");
}

void check(const GrowParams& params, std::size_t n_features) {
    require(0 < params.max_features && params.max_features <= n_features,
            "max_features must be at least 1, and at most the number of features");
    check_n_threads(params.n_threads);
}

void check(const ObliqueParams& params) {
    constexpr double most = std::numeric_limits<double>::max();
    require(0 <= params.ridge && params.ridge <= most, "ridge must be at least 0, and finite");
    require(0 <= params.min_side && params.min_side <= 1, "min_side must be between 0 and 1");
    require(0 <= params.weights_per_row && params.weights_per_row <= most,
            "weights_per_row must be at least 0, and finite");
    check_n_threads(params.n_threads);
}

void check_finite(std::span<const float> numbers) {
    require(are_finite(numbers), "a number is missing or infinite");
}

void check_finite(std::span<const double> numbers) {
    require(are_finite(numbers), "a number is missing or infinite");
}

template <class T>
static void check_any_outputs(std::span<const T> numbers, Impurity impurity) {
    check_finite(numbers);
    if (impurity == Impurity::variance || impurity == Impurity::absolute_error) return;
    require(all_of(numbers.size(), [&](std::size_t i) { return numbers[i] >= 0; }),
            "outputs must be at least 0 for entropy and Poisson deviance");
}

void check_outputs(std::span<const float> numbers, Impurity impurity) {
    check_any_outputs(numbers, impurity);
}

void check_outputs(std::span<const double> numbers, Impurity impurity) {
    check_any_outputs(numbers, impurity);
}

void check_rows(std::span<const std::int32_t> rows, std::size_t n_rows) {
    require(are_below(rows, n_rows), "rows are out of range");
}

void check(const Bag& bag, std::size_t n_rows) {
    require(!bag.rows.empty() && bag.rows.size() == bag.weights.size(),
            "a tree needs rows, and a weight for each");
    check_rows(bag.rows, n_rows);
    const bool ascend =
        all_of(bag.rows.size() - 1, [&](std::size_t i) { return bag.rows[i] < bag.rows[i + 1]; });
    if (!ascend) {
        std::vector<bool> is_met(n_rows);
        for (const std::int32_t row : bag.rows) {
            require(!is_met[row], "rows of a tree must differ");
            is_met[row] = true;
        }
    }
    require(all_of(bag.weights.size(),
                   [&](std::size_t i) {
                       return (bag.weights[i] > 0) &
                              (bag.weights[i] <= std::numeric_limits<double>::max());
                   }),
            "weights of rows must be above 0");
    const double total = std::accumulate(bag.weights.begin(), bag.weights.end(), 0.0);
    require(total <= std::numeric_limits<double>::max(), "weights of rows must have a finite sum");
}

void check_leaf_numbers(const Leaves& leaves, std::span<const std::int32_t> leaf_of) {
    std::vector<std::int32_t> n_leaves(leaves.n_trees);
    for (std::size_t tree = 0; tree < leaves.n_trees; ++tree)
        n_leaves[tree] =
            static_cast<std::int32_t>(leaves.leaf_start[tree + 1] - leaves.leaf_start[tree] - 1);
    bool is_wrong = false;
    for (std::size_t first = 0; first < leaf_of.size(); first += leaves.n_trees)
        for (std::size_t tree = 0; tree < leaves.n_trees; ++tree)
            is_wrong |= leaf_of[first + tree] >= n_leaves[tree];
    require(!is_wrong, "leaves must be those of the forest's trees");
}

}  // namespace sketchforest
