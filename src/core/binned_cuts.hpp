// The best cut of a feature in a large node, between bins of its codes: sums of the outputs of each
// bin, and then of the bins.
#pragma once

#include "aligned.hpp"
#include "kernels.hpp"
#include "node_search.hpp"

namespace sketchforest {

class BinnedCuts {
  public:
    // Rows of outputs are read once for so many features, whose sums stay in the L2 cache.
    static constexpr std::size_t most_features = 8;

    // Writes the best split by each feature, if there is one.
    void search(const NodeSearch& search, const DenseNode& outputs,
                std::span<const std::uint32_t> features, Split* splits);

  private:
    template <class T>
    void add_up(const NodeSearch& search, const DenseNode& outputs,
                std::span<const std::uint32_t> features);
    Split best_cut(const NodeSearch& search, std::uint32_t feature, const double* bins);

    // Rows as boosting has them: weight, one, and outputs times the weight.
    std::size_t stride_ = 0;
    AlignedVector<float> gathered_;
    std::vector<std::uint32_t> rows_;  // of X
    AlignedVector<double> sums_;       // of each bin of each feature
    AlignedVector<double> total_, left_;
};

}  // namespace sketchforest
