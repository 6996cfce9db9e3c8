#include "hierarchy.hpp"

#include <algorithm>

namespace sketchforest {

Hierarchy::Hierarchy(const Trees& trees, const Leaves& leaves)
    : n_inner(static_cast<std::size_t>(trees.node_start[trees.n_trees])),
      n_leaves(static_cast<std::size_t>(leaves.leaf_start[trees.n_trees]) - trees.n_trees),
      left(n_inner),
      right(n_inner),
      parents(n_nodes(), -1),
      numbers(n_nodes()),
      member_begin(n_nodes()),
      member_end(n_nodes()) {
    std::vector<std::int64_t> n_members(n_nodes()), n_leaves_below(n_nodes(), 1);
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
        const std::int64_t first_node = trees.node_start[tree], end = trees.node_start[tree + 1];
        // A tree has one more place in member_start than it has leaves.
        const auto first_leaf = static_cast<std::int64_t>(n_inner) + leaves.leaf_start[tree] -
                                static_cast<std::int64_t>(tree);
        const auto child = [&](std::int64_t node, int side) {
            const std::int64_t number = trees.nodes[node].child[side];
            const std::int64_t at = number >= 0 ? first_node + number : first_leaf - 1 - number;
            parents[at] = node;
            return at;
        };
        for (std::int64_t node = first_node; node < end; ++node) {
            left[node] = child(node, 0);
            right[node] = child(node, 1);
        }
        roots.push_back(first_node < end ? first_node : first_leaf);
        const std::uint32_t* const start = leaves.member_start + leaves.leaf_start[tree];
        for (std::int64_t leaf = 0; leaf <= end - first_node; ++leaf)
            n_members[first_leaf + leaf] = start[leaf + 1] - start[leaf];
        member_begin[roots.back()] = leaves.tree_members[tree];
    }
    // Children come after their parents.
    for (std::size_t node = n_inner; node-- > 0;) {
        n_members[node] = n_members[left[node]] + n_members[right[node]];
        n_leaves_below[node] = n_leaves_below[left[node]] + n_leaves_below[right[node]];
    }
    for (std::size_t node = 0; node < n_inner; ++node) {
        const std::int64_t l = left[node], r = right[node];
        numbers[l] = numbers[node] + 1;
        numbers[r] = numbers[node] + 2 * n_leaves_below[l];  // k leaves have k - 1 nodes above them
        member_begin[l] = member_begin[node];
        member_begin[r] = member_begin[node] + n_members[l];
    }
    for (std::size_t node = 0; node < n_nodes(); ++node)
        member_end[node] = member_begin[node] + n_members[node];
}

void add_up(const Hierarchy& hierarchy, std::vector<double>& sums) {
    for (std::size_t node = hierarchy.n_inner; node-- > 0;)
        sums[node] = sums[hierarchy.left[node]] + sums[hierarchy.right[node]];
}

Paths decision_paths(const Hierarchy& hierarchy, const Leaves& leaves, const std::int32_t* leaf_of,
                     std::size_t n_rows) {
    Paths paths;
    paths.row_start.push_back(0);
    for (std::size_t tree = 0; tree <= leaves.n_trees; ++tree)
        paths.first_node.push_back(2 * leaves.leaf_start[tree] -
                                   3 * static_cast<std::int64_t>(tree));
    for (std::size_t row = 0; row < n_rows; ++row) {
        for (std::size_t tree = 0; tree < leaves.n_trees; ++tree) {
            const auto leaf = leaf_of[row * leaves.n_trees + tree];
            if (leaf < 0) continue;
            const auto before = static_cast<std::ptrdiff_t>(paths.nodes.size());
            auto node = static_cast<std::int64_t>(hierarchy.n_inner) + leaves.leaf_start[tree] -
                        static_cast<std::int64_t>(tree) + leaf;
            for (; node >= 0; node = hierarchy.parents[node])
                paths.nodes.push_back(paths.first_node[tree] + hierarchy.numbers[node]);
            std::reverse(paths.nodes.begin() + before, paths.nodes.end());
        }
        paths.row_start.push_back(static_cast<std::int64_t>(paths.nodes.size()));
    }
    return paths;
}

}  // namespace sketchforest
