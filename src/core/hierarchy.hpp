// Which node is above which, in all trees of a forest at once.
#pragma once

#include <cstdint>
#include <vector>

#include "forest.hpp"

namespace sketchforest {

// Inner nodes of all trees are counted on, and after them leaves: the order of the flat arrays.
struct Hierarchy {
    Hierarchy(const Trees& trees, const Leaves& leaves);

    std::size_t n_inner, n_leaves;
    std::vector<std::int64_t> left, right;  // children of each inner node
    std::vector<std::int64_t> roots;        // of each tree
    std::vector<std::int64_t> parents;      // of each node; -1: it is a root
    // Of each node within its tree, as scikit-learn counts: a node, what is on its left, what is on
    // its right.
    std::vector<std::int64_t> numbers;
    // Where the members of leaves lie side by side from left to right, those below a node.
    std::vector<std::int64_t> member_begin, member_end;

    std::size_t n_nodes() const { return n_inner + n_leaves; }
};

// Sums over the leaves below each node, in place: of leaves the values are there.
void add_up(const Hierarchy& hierarchy, std::vector<double>& sums);

// The numbers of the nodes on the way of each row to its leaves, `leaf_of[row * n_trees + tree]`;
// those of a tree are counted from first_node[tree] on. Ascending in each row.
struct Paths {
    std::vector<std::int64_t> first_node;  // of each tree, and the end
    std::vector<std::int64_t> row_start, nodes;
};
Paths decision_paths(const Hierarchy& hierarchy, const Leaves& leaves, const std::int32_t* leaf_of,
                     std::size_t n_rows);

}  // namespace sketchforest
