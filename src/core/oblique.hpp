// Oblique trees: a node is split by a direction in the space of the features,
//
//     x . w <= threshold,
//
// which is a ridge regression of the leading direction of the node's outputs on its rows of X. It
// is stopped after a few steps of conjugate gradients, which are the first components of partial
// least squares and too few to overfit.
#pragma once

#include <cstdint>
#include <vector>

#include "data.hpp"

namespace sketchforest {

// X for oblique trees: floats on comparable scales, dense or sparse.
struct FloatRows {
    std::size_t n_rows = 0;
    std::size_t n_features = 0;
    const float* values = nullptr;            // dense: `stride` a row; sparse: beside `columns`
    std::size_t stride = 0;                   // dense: n_features and zeros up to a multiple of 8
    const std::int64_t* row_start = nullptr;  // null: dense
    const std::int32_t* columns = nullptr;    // ascending in each row

    bool is_sparse() const { return row_start != nullptr; }
};

struct ObliqueParams : TreeLimits {
    double ridge = 2;                 // times the mean squared length of the node's centered rows
    std::uint32_t n_steps = 2;        // of conjugate gradients
    std::uint32_t n_power_steps = 5;  // towards the leading direction of the outputs
    std::uint32_t n_refinements = 2;  // towards the direction between the sides of a cut
    double min_side = 0.2;            // share of the rows on each side, where there is such a cut
    double weights_per_row = 1;       // of X, that a node keeps at most for each of its rows
    // Features drawn in each node, of dense X, to be cut one by one as well; 0: none.
    std::uint32_t n_single_features = 0;
    // Where single features are cut, smaller nodes have no direction, since few rows do not
    // determine it.
    std::uint32_t min_direction_rows = 30;
    std::uint32_t piece_rows = 0;  // a node of more is worked on in pieces; 0: none is
    std::uint32_t n_threads = 1;   // which take the pieces
};

// The directions of the nodes: node i has the entries [start[i], start[i + 1]), by column.
struct Directions {
    std::vector<std::uint32_t> start{0};
    std::vector<std::int32_t> columns;
    std::vector<std::uint16_t> weights;  // the upper halves of floats
};

struct ObliqueTree {
    Tree tree;  // `feature` of a node is that of the largest effect
    Directions directions;
};

// The upper half of the float nearest to the value that has no lower half, and back.
inline std::uint16_t to_half(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}
inline float from_half(std::uint16_t half) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

// `z` has a row of `stride` outputs, a multiple of 8, for each row of the bag. Returns a tree
// without leaves if `stop` was requested.
ObliqueTree grow_oblique(const FloatRows& x, const float* z, std::size_t stride, const Bag& bag,
                         const ObliqueParams& params, Stop& stop);

// Trees of a forest, of which those with directions are oblique.
struct ObliqueTrees {
    std::size_t n_trees = 0;
    const Node* nodes = nullptr;
    const std::int64_t* node_start = nullptr;
    const std::int64_t* direction_start = nullptr;  // one for each node of all trees, and the end
    const std::int32_t* columns = nullptr;
    const std::uint16_t* weights = nullptr;
    const std::uint8_t* is_oblique = nullptr;  // of each tree
};

// The leaf of each row in each oblique tree: leaves[row * n_trees + tree]. Others are not touched.
void find_oblique_leaves(const ObliqueTrees& trees, const FloatRows& x, std::int32_t* leaves);

}  // namespace sketchforest
