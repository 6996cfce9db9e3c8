// Node ancestry, in all trees of a forest at once.
#pragma once

#include <cstdint>
#include <vector>

#include "forest.hpp"

namespace sketchforest {

// Inner nodes of all trees come first, then all leaves: the order of the flat arrays.
struct Hierarchy {
    Hierarchy(const Trees& trees, const Leaves& leaves);

    std::size_t n_inner, n_leaves;
    std::vector<std::int64_t> left, right;  // children of each inner node
    std::vector<std::int64_t> roots;        // of each tree
    std::vector<std::int64_t> parents;      // of each node; -1 for roots
    // The number of each node within its tree, as in scikit-learn: a node, its left subtree, its
    // right subtree.
    std::vector<std::int64_t> numbers;
    // The members below each node, if those of all leaves are stored from left to right.
    std::vector<std::int64_t> member_begin, member_end;

    std::size_t n_nodes() const { return n_inner + n_leaves; }
};

// Sums over the leaves below each node, in place: the values of leaves are given.
void add_up(const Hierarchy& hierarchy, std::vector<double>& sums);

// The numbers of the nodes between the roots and the leaves `leaf_of[row * n_trees + tree]` of each
// row, ascending. Those of a tree start at first_node[tree].
struct Paths {
    std::vector<std::int64_t> first_node;  // of each tree, and the end
    std::vector<std::int64_t> row_start, nodes;
};
Paths decision_paths(const Hierarchy& hierarchy, const Leaves& leaves, const std::int32_t* leaf_of,
                     std::size_t n_rows);

}  // namespace sketchforest
