// Whether arrays that came from a file are a forest: no walk, leaf or label leads outside of them.
#pragma once

#include "forest.hpp"

namespace sketchforest {

// How long the arrays are, and what else is said of the trees. Arrays with an entry for each tree,
// and one more, fit n_trees already.
struct Extent {
    std::size_t n_nodes = 0;
    std::size_t n_places = 0;   // in member_start: the leaves of each tree, and one more
    std::size_t n_members = 0;  // in members, and in their weights
    std::size_t n_rows = 0;     // of the labels
    std::size_t n_entries = 0;  // of sparse labels
    std::size_t n_features = 0;
    const std::int32_t* depths = nullptr;  // said of each tree
    const float* gains = nullptr;          // said of each node; null: not known
};

// One of several parts of the work, which threads do.
struct Part {
    std::size_t number = 0, n_parts = 1;
};

// Null where all is well, else what is wrong. Each array is read once, from front to back.
const char* find_damage(const Trees& trees, const Leaves& leaves, const Values& values,
                        const Extent& extent, const Part& part);

// Whether entries of directions have features that exist, and finite weights.
bool are_directions(const std::int32_t* columns, const std::uint16_t* weights, std::size_t n,
                    std::size_t n_features);

}  // namespace sketchforest
