// The direction in which a node of an oblique tree is split.
#pragma once

#include <vector>

#include "aligned.hpp"
#include "node_rows.hpp"
#include "random.hpp"
#include "team.hpp"

namespace sketchforest {

// Rows of outputs of one node, centered, with their weights.
struct CentredOutputs {
    const float* z;  // `stride` a row, a multiple of 8
    std::size_t n_rows;
    std::size_t stride;
    const float* weights;
    double weight;  // of all rows
    Pieces pieces;
};

class DirectionFinder {
  public:
    DirectionFinder(const ObliqueParams& params, std::size_t n_rows, std::size_t n_features,
                    std::size_t stride);

    // What is known of the columns of X is of another node.
    void open() { is_new_node_ = true; }
    // Aims at the direction in which the outputs vary most; false where they do not vary.
    bool aim_at_leading(const CentredOutputs& outputs, Stream& stream);
    // Aims at another direction of the outputs; false, and nothing changes, if there is none.
    bool aim_at(const double* direction);
    // Finds the direction in X that predicts the outputs along the one that is aimed at, by so many
    // steps, and about where the rows lie along it; false where there is none.
    bool find(NodeRows& x, const CentredOutputs& outputs, std::uint32_t n_steps);
    // Drops the weakest weights of the one that was found, and finds where the rows lie along it to
    // the last bit; false where nothing is left.
    bool finish(const NodeRows& x, const CentredOutputs& outputs);

    std::span<const std::uint32_t> columns() const { return columns_; }  // of x, ascending
    float weight(std::uint32_t column) const { return weights_[column]; }
    std::uint32_t strongest_column() const { return strongest_; }
    const float* projected() const { return projected_.data(); }

  private:
    bool begin_columns(NodeRows& x, const CentredOutputs& outputs);
    bool fit_ridge(NodeRows& x, const CentredOutputs& outputs, std::uint32_t n_steps);
    void keep_strongest(const NodeRows& x, std::size_t n_rows);
    void select(std::size_t most, std::size_t n_columns);

    const ObliqueParams& params_;
    AlignedVector<float> leading_, next_;                      // of outputs
    AlignedVector<float> sums_, variances_, effects_;          // of columns
    AlignedVector<float> weights_, kept_;                      // of columns
    AlignedVector<float> gradient_, step_, back_;              // of columns
    AlignedVector<float> target_, residual_, moved_, scaled_;  // of rows
    std::vector<float> projected_;
    std::vector<std::uint32_t> columns_;
    std::vector<std::uint32_t> counts_, strong_, near_;  // while columns are chosen
    std::uint32_t strongest_ = 0;
    double penalty_ = 0;
    bool is_new_node_ = true;
};

}  // namespace sketchforest
