// The direction in which a node of an oblique tree is split.
#pragma once

#include <vector>

#include "aligned.hpp"
#include "node_rows.hpp"
#include "random.hpp"

namespace sketchforest {

// Rows of outputs of one node, centred, with their weights.
struct CentredOutputs {
    const float* z;  // `stride` a row, a multiple of 8
    std::size_t n_rows;
    std::size_t stride;
    const float* weights;
    double weight;  // of all rows
};

class DirectionFinder {
  public:
    DirectionFinder(const ObliqueParams& params, std::size_t n_rows, std::size_t n_features,
                    std::size_t stride);

    // Begins a node; false where its rows of X do not vary.
    bool open(const NodeRows& x, const CentredOutputs& outputs);
    // Aims at the direction in which its outputs vary most; false where they do not vary.
    bool start(const CentredOutputs& outputs, Stream& stream);
    // Aims at another direction of the outputs.
    bool aim_at(const double* direction);
    // Finds the direction in X that predicts the outputs along the one that is aimed at, and about
    // where the rows lie along it; false where there is none.
    bool find(const NodeRows& x, const CentredOutputs& outputs);
    // Keeps the direction, and what was aimed at, as the best so far.
    void keep(std::size_t n_columns);
    void aim_at_kept() { std::swap(leading_, kept_leading_); }
    // Drops the weakest weights of the one that was kept, and finds where the rows lie along it to
    // the last bit; false where nothing is left.
    bool finish(const NodeRows& x, const CentredOutputs& outputs);

    std::span<const std::uint32_t> columns() const { return columns_; }  // of x, ascending
    float weight(std::uint32_t column) const { return weights_[column]; }
    std::uint32_t strongest_column() const { return strongest_; }
    const float* projected() const { return projected_.data(); }

  private:
    bool fit_ridge(const NodeRows& x, const CentredOutputs& outputs);
    void keep_strongest(const NodeRows& x, std::size_t n_rows);
    void select(std::size_t most, std::size_t n_columns);

    const ObliqueParams& params_;
    AlignedVector<float> leading_, next_, kept_leading_, found_leading_;  // of outputs
    AlignedVector<float> sums_, variances_, effects_;                     // of columns
    AlignedVector<float> weights_, kept_;                                 // of columns
    AlignedVector<float> gradient_, step_, back_;                         // of columns
    AlignedVector<float> target_, residual_, moved_, scaled_;             // of rows
    std::vector<float> projected_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::uint32_t> counts_, near_;  // while columns are chosen
    std::uint32_t strongest_ = 0;
    double penalty_ = 0;
};

}  // namespace sketchforest
