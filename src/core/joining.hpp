// Joins the parts of a tree into one tree.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "forest.hpp"

namespace sketchforest {

// The leaf of a tree that stands for a part.
struct PartPlace {
    std::int64_t tree, leaf;
};
static_assert(sizeof(PartPlace) == 16);

struct JoinedTree {
    std::vector<Node> nodes;                  // of one tree after the other
    std::vector<std::uint32_t> member_start;  // of leaves that stand for no part
    std::vector<std::int32_t> members;
};

// The root of tree j + 1 takes the place of the leaf `places[j]`, of a tree before it. Throws
// std::invalid_argument where there is no such leaf, or another tree has its place.
JoinedTree join_parts(const Trees& trees, const Leaves& leaves, std::span<const PartPlace> places);

}  // namespace sketchforest
