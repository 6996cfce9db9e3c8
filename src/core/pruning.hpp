// Minimal cost-complexity pruning: remove the weakest split of a tree, then the next.
//
// The cost of a tree is the impurity of its leaves, weighted by their shares of the rows, plus
// alpha per leaf. A split is removed from the alpha on at which the node as a leaf costs no more
// than its branch.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hierarchy.hpp"

namespace sketchforest {

// The sequence of subtrees, from the whole tree to its root alone.
struct PruningPath {
    std::vector<double> alphas;        // from which each subtree is the cheapest
    std::vector<double> impurities;    // of the leaves of each
    std::vector<std::int64_t> undone;  // nodes that became leaves: one fewer than subtrees
};

// The subtrees whose alpha is at most `most`. `costs` is the impurity that each node would add as a
// leaf. Of equally weak splits, the first in scikit-learn's order is removed first.
PruningPath pruning_path(const Hierarchy& tree, std::span<const double> costs, double most);

struct PrunedTree {
    std::vector<std::int64_t> kept;      // remaining inner nodes
    std::vector<std::int32_t> children;  // two per node, as in `Node`
    std::vector<std::int64_t> leaf_of;   // the leaf that gets the rows of each original leaf
    std::int32_t depth = 0;
};
PrunedTree cut_off(const Hierarchy& tree, std::span<const std::int64_t> undone);

}  // namespace sketchforest
