#include "joining.hpp"

#include <stdexcept>

namespace sketchforest {
namespace {

// Leaves of all trees, numbered consecutively: a tree has one more place in `leaf_start` than
// leaves.
std::size_t first_leaf(const Leaves& leaves, std::size_t tree) {
    return static_cast<std::size_t>(leaves.leaf_start[tree]) - tree;
}

// Where each part goes.
std::vector<std::size_t> leaves_of_parts(const Leaves& leaves, std::span<const PartPlace> places) {
    std::vector<std::size_t> numbers;
    for (const auto& [tree, leaf] : places) {
        const bool is_tree = tree >= 0 && static_cast<std::size_t>(tree) <= numbers.size();
        if (!is_tree || leaf < 0 ||
            leaf >= leaves.leaf_start[tree + 1] - leaves.leaf_start[tree] - 1)
            throw std::invalid_argument("a part must stand for a leaf of a tree before it");
        numbers.push_back(first_leaf(leaves, static_cast<std::size_t>(tree)) +
                          static_cast<std::size_t>(leaf));
    }
    return numbers;
}

}  // namespace

JoinedTree join_parts(const Trees& trees, const Leaves& leaves, std::span<const PartPlace> places) {
    if (places.size() + 1 != trees.n_trees)
        throw std::invalid_argument("each tree but the first must be a part");
    const std::vector<std::size_t> part_leaves = leaves_of_parts(leaves, places);
    std::vector<bool> is_leaf(first_leaf(leaves, trees.n_trees), true);
    for (const std::size_t leaf : part_leaves) {
        if (!is_leaf[leaf]) throw std::invalid_argument("a leaf must stand for one part alone");
        is_leaf[leaf] = false;
    }

    JoinedTree joined;
    joined.member_start.push_back(0);
    std::vector<std::int32_t> child(is_leaf.size());  // how a parent refers to what was a leaf
    for (std::size_t tree = 0, leaf = 0; tree < trees.n_trees; ++tree) {
        const std::uint32_t* const start = leaves.member_start + leaves.leaf_start[tree];
        const std::int32_t* const members = leaves.members + leaves.tree_members[tree];
        const std::size_t first = leaf, end = first_leaf(leaves, tree + 1);
        for (; leaf < end; ++leaf) {
            if (!is_leaf[leaf]) continue;
            child[leaf] = -static_cast<std::int32_t>(joined.member_start.size());
            joined.members.insert(joined.members.end(), members + start[leaf - first],
                                  members + start[leaf - first + 1]);
            joined.member_start.push_back(static_cast<std::uint32_t>(joined.members.size()));
        }
    }
    // The last part first: a part of one leaf may stand for another.
    for (std::size_t tree = trees.n_trees - 1; tree > 0; --tree) {
        const bool has_nodes = trees.node_start[tree] < trees.node_start[tree + 1];
        child[part_leaves[tree - 1]] = has_nodes ? static_cast<std::int32_t>(trees.node_start[tree])
                                                 : child[first_leaf(leaves, tree)];
    }
    joined.nodes.assign(trees.nodes, trees.nodes + trees.node_start[trees.n_trees]);
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree)
        for (std::int64_t node = trees.node_start[tree]; node < trees.node_start[tree + 1]; ++node)
            for (std::int32_t& each : joined.nodes[static_cast<std::size_t>(node)].child)
                each = each < 0
                           ? child[first_leaf(leaves, tree) + static_cast<std::size_t>(-1 - each)]
                           : each + static_cast<std::int32_t>(trees.node_start[tree]);
    return joined;
}

}  // namespace sketchforest
