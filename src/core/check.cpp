#include "check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <exception>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <type_traits>
#include <vector>

namespace sketchforest {
namespace {

// Both are numbered in 31 bits.
constexpr std::size_t most_rows = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t most_features = most_rows;

void require(bool holds, const char* reason) {
    if (!holds) throw std::invalid_argument(reason);
}

// Loops have no early exit: a flag that gathers what is wrong keeps them vectorised.
template <class Holds>
bool all_of(std::size_t n, Holds holds) {
    bool is_wrong = false;
    for (std::size_t i = 0; i < n; ++i) is_wrong |= !holds(i);
    return !is_wrong;
}

// Starts of pieces that fill [0, end).
bool are_starts(std::span<const std::int64_t> starts, std::size_t end) {
    return !starts.empty() && starts.front() == 0 &&
           starts.back() == static_cast<std::int64_t>(end) &&
           all_of(starts.size() - 1, [&](std::size_t i) { return starts[i] <= starts[i + 1]; });
}

// Whether all are in [0, end). A bit gathers what is wrong, since comparisons would not vectorise.
template <class T>
bool are_below(std::span<const T> numbers, std::size_t end) {
    if (end == 0) return numbers.empty();
    using Bits = std::make_unsigned_t<T>;
    const auto last = static_cast<Bits>(
        std::min<std::uint64_t>(end - 1, static_cast<Bits>(std::numeric_limits<T>::max())));
    Bits wrong = 0;
    for (const T number : numbers) {
        const auto bits = static_cast<Bits>(number);
        wrong |= bits | (last - bits);  // of both the sign
    }
    return wrong >> (8 * sizeof(T) - 1) == 0;
}

// Columns of each row, from left to right, none of them twice.
template <class T>
bool are_ascending(const std::int64_t* row_start, const T* columns, std::size_t n_rows) {
    bool is_wrong = false;
    for (std::size_t row = 0; row < n_rows; ++row)
        for (std::int64_t at = row_start[row] + 1; at < row_start[row + 1]; ++at)
            is_wrong |= columns[at - 1] >= columns[at];
    return !is_wrong;
}

// Whether no exponent has all of its bits: one more makes it a sign.
template <class T>
bool are_finite(std::span<const T> numbers) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    constexpr Bits infinite = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
    Bits wrong = 0;
    for (const T number : numbers)
        wrong |= (std::bit_cast<Bits>(number) & ~sign) + (sign - infinite);
    return (wrong & sign) == 0;
}

template <class T>
bool are_numbers(std::span<const T> numbers) {
    return all_of(numbers.size(), [&](std::size_t i) { return !std::isnan(numbers[i]); });
}

bool are_splits(const Node* nodes, std::size_t n_nodes, std::size_t n_features) {
    return all_of(n_nodes, [&](std::size_t i) {
        return ((nodes[i].feature & ~missing_left_bit) < n_features) &
               !std::isnan(nodes[i].threshold);
    });
}

// Walks over the nodes of one tree. Children come after their parents, so that no walk goes round
// in a circle, and n nodes have 2 n children: where none has two parents, each node but the root
// and each leaf has one.
class Descent {
  public:
    // The depth of the tree; -1 where it is none.
    std::int32_t depth(const Node* nodes, std::size_t n_nodes) {
        level_.assign(2 * n_nodes + 1, 0);  // of nodes, then of leaves; 0: not met
        level_[0] = 1;
        bool is_wrong = false;
        std::int32_t deepest = 1;
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const std::int32_t next = level_[i] + 1;
            deepest = std::max(deepest, next);
            for (const std::int32_t child : nodes[i].child) {
                // Without a branch: whether a child is a leaf cannot be foretold.
                const auto is_leaf = static_cast<std::uint32_t>(child >> 31);  // all bits or none
                const std::uint32_t number = static_cast<std::uint32_t>(child) ^ is_leaf;
                const std::uint64_t at = std::uint64_t{number} + (n_nodes & (0 - (is_leaf & 1ull)));
                const bool is_there =
                    (at > i) & (at < level_.size()) & (number < n_nodes + (is_leaf & 1));
                std::int32_t& level = level_[at & (0 - std::uint64_t{is_there})];
                is_wrong |= !is_there | (level != 0);
                level = next;
            }
        }
        return is_wrong ? -1 : deepest - 1;
    }

  private:
    std::vector<std::int32_t> level_;
};

// The same codes by row and by column: a node that is split by the one and parted by the other
// would never end. By tiles of a few rows, so that each piece of memory is fetched once.
template <class Code>
bool are_transposed(const Codes& codes) {
    constexpr std::size_t tile_rows = 32;
    const auto* rows = static_cast<const Code*>(codes.row_codes);
    for (std::size_t begin = 0; begin < codes.n_rows; begin += tile_rows) {
        const std::size_t n = std::min(tile_rows, codes.n_rows - begin);
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

// Codes of a feature: ranks of its values, and one more that says missing. By value: floats. An
// entry of sparse X is no zero: the rows of a node that have none are told from its zeros by that.
template <class Code>
bool are_codes(const Codes& codes, std::size_t n_entries) {
    const auto* given = static_cast<const Code*>(codes.codes);
    if (codes.sparse)
        return all_of(n_entries, [&](std::size_t i) {
            const auto feature = static_cast<std::size_t>(codes.columns[i]);
            return (given[i] <= codes.missing_code(feature)) &
                   (given[i] != codes.zero_code[feature]);
        });
    constexpr float infinity = std::numeric_limits<float>::infinity();
    const std::uint32_t lowest = sortable(-infinity), highest = sortable(infinity);
    for (std::size_t feature = 0; feature < codes.n_features; ++feature) {
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
        if (!are_right) return false;
    }
    return !codes.row_codes || are_transposed<Code>(codes);
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

// One of several parts of the work.
struct Part {
    std::size_t number = 0, n_parts = 1;

    template <class T>
    std::span<const T> share(std::span<const T> all) const {
        return all.subspan(first(all.size()), first(all.size(), 1) - first(all.size()));
    }
    std::size_t first(std::size_t n, std::size_t after = 0) const {
        return n * (number + after) / n_parts;
    }
};

// Each part on a thread of its own, where there is one; then the first error is thrown.
template <class Work>
void in_parts(std::size_t n_parts, Work work) {
    std::vector<std::exception_ptr> errors(n_parts);
    std::vector<std::thread> threads;
    const auto run = [&](std::size_t number) {
        try {
            work(Part{number, n_parts});
        } catch (...) {
            errors[number] = std::current_exception();
        }
    };
    threads.reserve(n_parts);
    for (std::size_t number = 1; number < n_parts; ++number) {
        try {
            threads.emplace_back(run, number);
        } catch (const std::system_error&) {
            run(number);
        }
    }
    run(0);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

void check_starts_of(const LeafArrays& leaves) {
    const std::size_t n_trees = leaves.leaf_start.size() - 1, n_members = leaves.members.size();
    require(!leaves.leaf_start.empty() && n_trees > 0, "there is no tree");
    require(are_starts(leaves.leaf_start, leaves.member_start.size()), "leaves do not add up");
    require(leaves.tree_members.size() == n_trees + 1 && are_starts(leaves.tree_members, n_members),
            "members do not add up");
    require(leaves.counts.empty() || leaves.counts.size() == n_members, "a weight is missing");
    require(leaves.weights.empty() || leaves.weights.size() == n_members, "a weight is missing");
}

void check_leaves(const LeafArrays& leaves, const Part& part) {
    const std::size_t n_trees = leaves.leaf_start.size() - 1;
    for (std::size_t tree = part.first(n_trees); tree < part.first(n_trees, 1); ++tree) {
        const auto first = static_cast<std::size_t>(leaves.leaf_start[tree]);
        const auto last = static_cast<std::size_t>(leaves.leaf_start[tree + 1]);
        require(last >= first + 2, "a tree lacks leaves");
        const auto starts = leaves.member_start.subspan(first, last - first);
        const auto n_own = leaves.tree_members[tree + 1] - leaves.tree_members[tree];
        require(starts.front() == 0 && starts.back() == n_own, "a leaf lacks members");
        require(all_of(starts.size() - 1, [&](std::size_t i) { return starts[i] < starts[i + 1]; }),
                "a leaf is empty");
    }
    require(are_below(part.share(leaves.members), leaves.n_rows), "members are out of range");
    // Weights of nothing, or none at all, would make averages that are no numbers.
    const auto counts = part.share(leaves.counts);
    require(all_of(counts.size(), [&](std::size_t i) { return counts[i] > 0; }),
            "a weight is not above 0");
    const auto weights = part.share(leaves.weights);
    constexpr double most = std::numeric_limits<double>::max();
    require(all_of(weights.size(),
                   [&](std::size_t i) { return (weights[i] > 0) & (weights[i] <= most); }),
            "a weight is not above 0");
}

void check_trees(const ForestArrays& forest, const Part& part) {
    const auto& leaf_start = forest.leaves.leaf_start;
    const std::size_t n_trees = forest.depths.size();
    Descent descent;
    for (std::size_t tree = part.first(n_trees); tree < part.first(n_trees, 1); ++tree) {
        const auto first = static_cast<std::size_t>(forest.node_start[tree]);
        const auto n_own = static_cast<std::size_t>(forest.node_start[tree + 1]) - first;
        require(leaf_start[tree + 1] - leaf_start[tree] == static_cast<std::int64_t>(n_own) + 2,
                "a tree lacks leaves");
        const Node* const nodes = forest.nodes.data() + first;
        require(are_splits(nodes, n_own, forest.n_features),
                "a feature does not exist, or a threshold is no number");
        const std::int32_t depth = descent.depth(nodes, n_own);
        require(depth >= 0, "a node has not one parent");
        require(depth == forest.depths[tree], "a tree has another depth");
    }
    require(are_numbers(part.share(forest.wide_thresholds)), "a threshold is no number");
    require(are_numbers(part.share(forest.gains)), "a gain is no number");
}

void check_directions(const ForestArrays& forest) {
    const auto& start = forest.direction_start;
    const std::size_t n_entries = forest.direction_columns.size();
    constexpr const char* reason = "directions do not fit the trees";
    constexpr std::uint16_t exponent = 0x7f80;  // all of its bits: infinite, or no number
    require(start.size() == forest.nodes.size() + 1 && are_starts(start, n_entries), reason);
    require(forest.direction_weights.size() == n_entries, reason);
    require(are_below(forest.direction_columns, forest.n_features), reason);
    require(
        all_of(n_entries,
               [&](std::size_t i) { return (forest.direction_weights[i] & exponent) != exponent; }),
        reason);
    require(forest.is_oblique.size() == forest.depths.size(), reason);
    for (std::size_t tree = 0; tree < forest.is_oblique.size(); ++tree) {
        const std::int64_t first = start[forest.node_start[tree]];
        const bool has_some = start[forest.node_start[tree + 1]] > first;
        require(forest.is_oblique[tree] == 1 || (forest.is_oblique[tree] == 0 && !has_some),
                reason);
    }
}

}  // namespace

Leaves LeafArrays::view() const {
    Leaves leaves;
    leaves.n_trees = leaf_start.size() - 1;
    leaves.leaf_start = leaf_start.data();
    leaves.member_start = member_start.data();
    leaves.tree_members = tree_members.data();
    leaves.members = members.data();
    if (!counts.empty()) leaves.counts = counts.data();
    if (!weights.empty()) leaves.weights = weights.data();
    return leaves;
}

Trees ForestArrays::view() const {
    Trees trees;
    trees.n_trees = depths.size();
    trees.nodes = nodes.data();
    if (!wide_thresholds.empty()) trees.wide_thresholds = wide_thresholds.data();
    trees.node_start = node_start.data();
    if (!is_oblique.empty()) trees.is_oblique = is_oblique.data();
    return trees;
}

ObliqueTrees ForestArrays::oblique_view() const {
    const bool has_some = !is_oblique.empty();  // else directions were not checked
    return {depths.size(),
            nodes.data(),
            node_start.data(),
            has_some ? direction_start.data() : nullptr,
            direction_columns.data(),
            direction_weights.data(),
            has_some ? is_oblique.data() : nullptr};
}

void check(const LeafArrays& leaves) {
    check_starts_of(leaves);
    check_leaves(leaves, {});
}

void check(const ForestArrays& forest, std::size_t n_threads) {
    const std::size_t n_trees = forest.depths.size(), n_nodes = forest.nodes.size();
    require(forest.leaves.leaf_start.size() == n_trees + 1 &&
                forest.node_start.size() == n_trees + 1 && are_starts(forest.node_start, n_nodes),
            "nodes do not add up");
    check_starts_of(forest.leaves);
    require(forest.n_features <= most_features, "there are too many features");
    require(forest.wide_thresholds.empty() || forest.wide_thresholds.size() == n_nodes,
            "a threshold is missing");
    require(forest.gains.empty() || forest.gains.size() == n_nodes, "a gain is missing");
    constexpr std::size_t worth_a_thread = 1 << 16;  // nodes and members: a tenth of a millisecond
    const std::size_t n_parts = (n_nodes + forest.leaves.members.size()) / worth_a_thread;
    in_parts(std::clamp<std::size_t>(n_parts, 1, std::max<std::size_t>(n_threads, 1)),
             [&](const Part& part) {
                 check_leaves(forest.leaves, part);
                 check_trees(forest, part);
             });
    if (!forest.is_oblique.empty() || !forest.direction_start.empty()) check_directions(forest);
}

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
    require(!rows.values || are_finite(std::span(rows.values, n_entries)), "a label is no number");
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

void check(const Codes& codes, const CodesExtent& extent) {
    constexpr const char* reason = "codes do not fit the values";
    if (!codes.by_value) {
        require(are_starts({codes.value_start, codes.n_features + 1}, extent.n_values), reason);
        require(all_of(codes.n_features,
                       [&](std::size_t i) {
                           return codes.value_start[i + 1] - codes.value_start[i] < 0xffffffff;
                       }),
                reason);
    }
    if (codes.sparse) {
        require(!codes.by_value, reason);
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
    const bool are_right =
        codes.code_bytes == 0 ||
        (codes.code_bytes == 1   ? are_codes<std::uint8_t>(codes, extent.n_entries)
         : codes.code_bytes == 2 ? are_codes<std::uint16_t>(codes, extent.n_entries)
                                 : are_codes<std::uint32_t>(codes, extent.n_entries));
    require(are_right, reason);
}

void check(const GrowParams& params, std::size_t n_features) {
    require(0 < params.max_features && params.max_features <= n_features,
            "max_features must be at least 1, and at most the number of features");
}

void check(const ObliqueParams& params) {
    constexpr double most = std::numeric_limits<double>::max();
    require(0 <= params.ridge && params.ridge <= most, "ridge must be at least 0, and finite");
    require(0 <= params.min_side && params.min_side <= 1, "min_side must be between 0 and 1");
    require(0 <= params.weights_per_row && params.weights_per_row <= most,
            "weights_per_row must be at least 0, and finite");
    require(0 < params.n_threads && params.n_threads <= 4096,
            "n_threads must be between 1 and 4096");
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
