#include "check.hpp"

#include <cmath>
#include <limits>

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

template <class T>
bool are_finite(const T* numbers, std::size_t n) {
    return all_of(n, [&](std::size_t i) { return std::isfinite(numbers[i]); });
}

// Children come after their parents, so that no walk goes round in a circle.
bool are_nodes(const Node* nodes, std::size_t n_nodes, std::size_t n_features) {
    return all_of(n_nodes, [&](std::size_t i) {
        const auto is_child = [&](std::int32_t child) {
            return child >= 0 ? (static_cast<std::size_t>(child) > i) &
                                    (static_cast<std::size_t>(child) < n_nodes)
                              : static_cast<std::size_t>(~child) <= n_nodes;
        };
        return ((nodes[i].feature & ~missing_left_bit) < n_features) & is_child(nodes[i].child[0]) &
               is_child(nodes[i].child[1]);
    });
}

const char* find_damage_in_trees(const Trees& trees, const Leaves& leaves, const Extent& extent) {
    if (!are_starts(trees.node_start, trees.n_trees, extent.n_nodes)) return "nodes do not add up";
    if (!are_starts(leaves.leaf_start, trees.n_trees, extent.n_places))
        return "leaves do not add up";
    if (!are_starts(leaves.tree_members, trees.n_trees, extent.n_members))
        return "members do not add up";
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
        const auto n_nodes =
            static_cast<std::size_t>(trees.node_start[tree + 1] - trees.node_start[tree]);
        const auto n_places =
            static_cast<std::size_t>(leaves.leaf_start[tree + 1] - leaves.leaf_start[tree]);
        const std::int64_t n_members = leaves.tree_members[tree + 1] - leaves.tree_members[tree];
        if (n_places != n_nodes + 2) return "a tree lacks leaves";
        if (!are_nodes(trees.nodes + trees.node_start[tree], n_nodes, extent.n_features))
            return "a child or a feature does not exist";
        const std::uint32_t* starts = leaves.member_start + leaves.leaf_start[tree];
        if (starts[0] != 0 || starts[n_nodes + 1] != n_members) return "a leaf lacks members";
        if (!all_of(n_nodes + 1, [&](std::size_t i) { return starts[i] < starts[i + 1]; }))
            return "a leaf is empty";
    }
    return nullptr;
}

// Weights of nothing, or none at all, would make averages that are no numbers and cannot be sorted.
bool are_weights(const Leaves& leaves, std::size_t n) {
    if (leaves.counts) return all_of(n, [&](std::size_t i) { return leaves.counts[i] > 0; });
    if (!leaves.weights) return true;
    return all_of(n, [&](std::size_t i) {
        return (leaves.weights[i] > 0) & (leaves.weights[i] <= std::numeric_limits<double>::max());
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
    if (rows.values && !are_finite(rows.values, extent.n_entries)) return "a label is no number";
    return nullptr;
}

}  // namespace

const char* find_damage(const Trees& trees, const Leaves& leaves, const Values& values,
                        const Extent& extent) {
    if (const char* damage = find_damage_in_trees(trees, leaves, extent)) return damage;
    if (!are_below(leaves.members, extent.n_members, extent.n_rows))
        return "members are out of range";
    if (!are_weights(leaves, extent.n_members)) return "a weight is not above 0";
    return find_damage_in_labels(values, extent);
}

}  // namespace sketchforest
