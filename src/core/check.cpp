#include "check.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace sketchforest {
namespace {

// Loops have no early exit: a flag that gathers what is wrong keeps them vectorised.
template <class Holds>
bool all_of(std::size_t n, Holds holds) {
    bool is_wrong = false;
    for (std::size_t i = 0; i < n; ++i) is_wrong |= !holds(i);
    return !is_wrong;
}

// Starts of n pieces that fill [0, end).
bool are_starts(const std::int64_t* starts, std::size_t n, std::size_t end) {
    return starts[0] == 0 && starts[n] == static_cast<std::int64_t>(end) &&
           all_of(n, [&](std::size_t i) { return starts[i] <= starts[i + 1]; });
}

bool are_below(const std::int32_t* numbers, std::size_t n, std::size_t end) {
    return all_of(n, [&](std::size_t i) { return static_cast<std::uint32_t>(numbers[i]) < end; });
}

// Columns of each row, from left to right, none of them twice.
bool are_ascending(const SparseRows& rows, std::size_t n_rows) {
    bool is_wrong = false;
    for (std::size_t row = 0; row < n_rows; ++row)
        for (std::int64_t at = rows.row_start[row] + 1; at < rows.row_start[row + 1]; ++at)
            is_wrong |= rows.columns[at - 1] >= rows.columns[at];
    return !is_wrong;
}

template <class T>
bool are_finite(const T* numbers, std::size_t n) {
    return all_of(n, [&](std::size_t i) { return std::isfinite(numbers[i]); });
}

template <class T>
bool are_numbers(const T* numbers, std::size_t n) {
    return all_of(n, [&](std::size_t i) { return !std::isnan(numbers[i]); });
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

// The share of n things that belongs to a part.
struct Share {
    Share(std::size_t n, const Part& part)
        : first(n * part.number / part.n_parts), last(n * (part.number + 1) / part.n_parts) {}
    std::size_t size() const { return last - first; }
    const std::size_t first, last;
};

const char* find_damage_in_trees(const Trees& trees, const Leaves& leaves, const Extent& extent,
                                 const Part& part) {
    if (!are_starts(trees.node_start, trees.n_trees, extent.n_nodes)) return "nodes do not add up";
    if (!are_starts(leaves.leaf_start, trees.n_trees, extent.n_places))
        return "leaves do not add up";
    if (!are_starts(leaves.tree_members, trees.n_trees, extent.n_members))
        return "members do not add up";
    Descent descent;
    const Share own(trees.n_trees, part);
    for (std::size_t tree = own.first; tree < own.last; ++tree) {
        const auto n_nodes =
            static_cast<std::size_t>(trees.node_start[tree + 1] - trees.node_start[tree]);
        const auto n_places =
            static_cast<std::size_t>(leaves.leaf_start[tree + 1] - leaves.leaf_start[tree]);
        const std::int64_t n_members = leaves.tree_members[tree + 1] - leaves.tree_members[tree];
        if (n_places != n_nodes + 2) return "a tree lacks leaves";
        const Node* const nodes = trees.nodes + trees.node_start[tree];
        if (!are_splits(nodes, n_nodes, extent.n_features))
            return "a feature does not exist, or a threshold is no number";
        const std::int32_t depth = descent.depth(nodes, n_nodes);
        if (depth < 0) return "a node has not one parent";
        if (depth != extent.depths[tree]) return "a tree has another depth";
        const std::uint32_t* starts = leaves.member_start + leaves.leaf_start[tree];
        if (starts[0] != 0 || starts[n_nodes + 1] != n_members) return "a leaf lacks members";
        if (!all_of(n_nodes + 1, [&](std::size_t i) { return starts[i] < starts[i + 1]; }))
            return "a leaf is empty";
    }
    const Share nodes(extent.n_nodes, part);
    if (trees.wide_thresholds && !are_numbers(trees.wide_thresholds + nodes.first, nodes.size()))
        return "a threshold is no number";
    if (extent.gains && !are_numbers(extent.gains + nodes.first, nodes.size()))
        return "a gain is no number";
    return nullptr;
}

// Weights of nothing, or none at all, would make averages that are no numbers and cannot be sorted.
bool are_weights(const Leaves& leaves, const Share& own) {
    if (leaves.counts)
        return all_of(own.size(), [&](std::size_t i) { return leaves.counts[own.first + i] > 0; });
    if (!leaves.weights) return true;
    return all_of(own.size(), [&](std::size_t i) {
        const double weight = leaves.weights[own.first + i];
        return (weight > 0) & (weight <= std::numeric_limits<double>::max());
    });
}

const char* find_damage_in_labels(const Values& values, const Extent& extent) {
    if (values.dense)
        return are_finite(values.dense, extent.n_rows * values.n_columns) ? nullptr
                                                                          : "a label is no number";
    const SparseRows& rows = values.sparse;
    if (!are_starts(rows.row_start, extent.n_rows, extent.n_entries)) return "labels do not add up";
    if (!are_below(rows.columns, extent.n_entries, values.n_columns))
        return "labels are out of range";
    if (!are_ascending(rows, extent.n_rows)) return "labels of a row are not in order";
    if (rows.values && !are_finite(rows.values, extent.n_entries)) return "a label is no number";
    return nullptr;
}

}  // namespace

const char* find_damage(const Trees& trees, const Leaves& leaves, const Values& values,
                        const Extent& extent, const Part& part) {
    if (const char* damage = find_damage_in_trees(trees, leaves, extent, part)) return damage;
    const Share own(extent.n_members, part);
    if (!are_below(leaves.members + own.first, own.size(), extent.n_rows))
        return "members are out of range";
    if (!are_weights(leaves, own)) return "a weight is not above 0";
    return part.number == 0 ? find_damage_in_labels(values, extent) : nullptr;
}

bool are_directions(const std::int32_t* columns, const std::uint16_t* weights, std::size_t n,
                    std::size_t n_features) {
    constexpr std::uint16_t exponent = 0x7f80;  // all of its bits: infinite, or no number
    return are_below(columns, n, n_features) &&
           all_of(n, [&](std::size_t i) { return (weights[i] & exponent) != exponent; });
}

}  // namespace sketchforest
