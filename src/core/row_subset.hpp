// The rows of a subtree, renumbered.
//
// Deep in a tree, a node holds a few of many rows. Once it has shrunk to a fraction of its subset,
// its rows become a new subset: they are numbered 0, 1, 2, ..., their outputs lie side by side and
// their columns are rebuilt, so that a search costs the size of the node and not of its ancestor.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace sketchforest {

struct RowSubset {
    std::vector<std::uint32_t> member;  // row of this subset -> position in the bag
    std::vector<std::int32_t> row;      // -> training row
    std::vector<double> weight;
    std::vector<std::uint32_t> order;     // each node of the tree is a range of this
    std::vector<std::uint32_t> position;  // its inverse
};

// A node under growth: rows order[begin, end) of a subset.
struct Range {
    std::uint32_t begin;
    std::uint32_t end;
    std::uint32_t size() const { return end - begin; }
    std::span<const std::uint32_t> rows(const RowSubset& subset) const {
        return {subset.order.data() + begin, size()};
    }
};

}  // namespace sketchforest
