// Gradient boosting: trees grown on histograms of sketched gradients, and scores of all outputs.
#pragma once

#include <span>
#include <vector>

#include "data.hpp"
#include "kernels.hpp"

namespace sketchforest {

// X in bins, dense by column or sparse by row. The bins of feature f are the places bin_start[f]
// to bin_start[f + 1] of a histogram, of which the last holds missing values.
struct BinnedX {
    std::size_t n_rows = 0, n_features = 0;
    const std::int64_t* bin_start = nullptr;
    const std::uint8_t* columns = nullptr;  // dense: feature after feature
    // Sparse: the places of the non-zeros, ascending in each row, and of a zero in each feature.
    const std::int64_t* row_start = nullptr;
    const std::uint32_t* places = nullptr;
    const std::uint32_t* zero_place = nullptr;

    bool is_sparse() const { return row_start != nullptr; }
    std::uint32_t bin(std::size_t row, std::size_t feature) const;
    std::uint32_t n_known(std::size_t feature) const {
        return static_cast<std::uint32_t>(bin_start[feature + 1] - bin_start[feature] - 1);
    }
};
// Throws std::invalid_argument unless each value lies in a bin of its feature.
void check(const BinnedX& bins, std::size_t n_places);

struct BoostParams : TreeLimits {
    std::uint32_t max_features = 1;
    double l2 = 0;
};

// An inner node: bins up to `bin` go left. A child >= 0 is an inner node, a child < 0 is leaf
// number -1 - child.
struct BinNode {
    std::int32_t feature, bin, missing_left;
    std::int32_t child[2];
};
static_assert(sizeof(BinNode) == 20);

struct BoostTree {
    std::vector<BinNode> nodes;  // the root is first
    std::vector<double> gains;
    std::vector<std::int32_t> leaf_of;  // of all rows, in the bag or not
    std::vector<std::uint32_t> rows;    // of the bag, leaf after leaf, ascending in each
    std::vector<std::int64_t> leaf_start;
    std::uint32_t depth = 0;
};

// Grows the leaf of largest gain first. `gradients` has a row of `stride` numbers for each row of
// X, see before_gradients; `rows` are the bag, ascending. Results do not depend on n_threads.
// Without leaves, it was stopped.
BoostTree grow_boosted(const BinnedX& bins, const float* gradients, std::size_t stride,
                       std::span<const std::uint32_t> rows, const BoostParams& params,
                       std::size_t n_threads, Stop& stop);

enum class Loss { squared_error, cross_entropy, softmax };

// The scores that boosting adds to, one per row and output. With squared error it is the residual,
// prediction minus truth, which is the gradient.
struct Scores {
    float* values;
    std::size_t n_rows, n_outputs;
    Loss loss;
    SparseRows labels;                     // of binary outputs and classes
    std::span<const std::int64_t> groups;  // of classes: where each column of classes begins
    const double* weights;                 // of the rows; null: one each
};

// Z = G P, a row of `stride` numbers for each row of the scores, of which only `rows` are written.
// Null p: the gradients themselves.
void sketch_scores(const Scores& scores, std::span<const std::uint32_t> rows, const float* p,
                   std::size_t stride, std::size_t n_threads, float* z);

// Sums of gradients, and of second derivatives or (where `squares`) of squared gradients, over the
// rows of each leaf: (n_leaves, n_outputs).
void sum_leaves(const Scores& scores, std::span<const std::uint32_t> rows,
                std::span<const std::int64_t> leaf_start, bool squares, std::size_t n_threads,
                double* gradients, double* others);

void add_leaf_values(const Scores& scores, const std::int32_t* leaf_of, const float* values,
                     std::size_t n_threads);

// The sum of the weighted losses of the rows.
double sum_losses(const Scores& scores, std::span<const std::uint32_t> rows, std::size_t n_threads);

}  // namespace sketchforest
