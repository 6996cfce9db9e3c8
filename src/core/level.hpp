// The rows that a subtree is grown on, numbered anew.
//
// Deep in a tree a node holds a few rows of many. Where it has shrunk to a fraction of the rows it
// is numbered among, its rows become a level of their own: 0, 1, 2, ... with their outputs side by
// side and their columns rebuilt, so that a search costs the node's size and not its ancestor's.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sketchforest {

struct Level {
    std::vector<std::uint32_t> member;  // row of this level -> position in the bag
    std::vector<std::int32_t> row;      // -> training row
    std::vector<double> weight;
    std::vector<std::uint32_t> order;     // each node of the tree is a range of this
    std::vector<std::uint32_t> position;  // its inverse
};

// A node under growth: rows order[begin, end) of a level.
struct Range {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t size() const { return end - begin; }
    std::span<const std::uint32_t> rows(const Level& level) const {
        return {level.order.data() + begin, size()};
    }
};

}  // namespace sketchforest
