// Minimal cost-complexity pruning: the weakest split of a tree is undone, then the next.
//
// A tree costs the impurity of its leaves, each by its share of the rows, and alpha for each leaf.
// A split is undone from that alpha on at which the node costs no more as a leaf than its branch
// does.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "hierarchy.hpp"

namespace sketchforest {

// The trees on the way from the whole one, which is the first, to its root alone.
struct PruningPath {
    std::vector<double> alphas;        // from which on each is the cheapest
    std::vector<double> impurities;    // of its leaves
    std::vector<std::int64_t> undone;  // nodes that became leaves: one less than there are trees
};

// Those of which alpha is at most `most`. `costs` is the impurity that each node would add as a
// leaf. Of equally weak splits, the one that scikit-learn counts first is undone first.
PruningPath pruning_path(const Hierarchy& tree, std::span<const double> costs, double most);

struct PrunedTree {
    std::vector<std::int64_t> kept;      // inner nodes that stay
    std::vector<std::int32_t> children;  // two of each, as nodes name them
    std::vector<std::int64_t> leaf_of;   // of each leaf of the whole: the leaf that holds its rows
    std::int32_t depth = 0;
};
PrunedTree cut_off(const Hierarchy& tree, std::span<const std::int64_t> undone);

}  // namespace sketchforest
