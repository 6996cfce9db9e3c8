// The best cut of the rows of a node along its direction, or along one feature.
#pragma once

#include <vector>

#include "aligned.hpp"
#include "direction.hpp"
#include "kernels.hpp"
#include "sort.hpp"

namespace sketchforest {

class ProjectedCuts {
  public:
    explicit ProjectedCuts(const ObliqueParams& params) : params_(params) {}

    // The cut of the order along the direction that leaves the least variance in all outputs, with
    // a share of at least min_side of the rows on each side, or, where ties leave no such cut, with
    // any. The node has outputs.z, whose `total` and `weight` are those of doubles.
    SplitPoint find(const float* projected, const CentredOutputs& outputs, const DenseNode& node,
                    double weight, double min_side);

    // The rows of the node in the order along the direction.
    const Entry* entries() const { return entries_.data(); }

  private:
    // Sorts the rows; false where a sum overflowed, so that they have no order.
    bool sort(const float* projected, const Pieces& pieces);
    void sort_in_pieces(std::uint32_t lowest, std::uint32_t highest, const Pieces& pieces);
    SplitPoint scan(const Limits& limits, const DenseNode& node, const Pieces& pieces);
    void sum_before(const DenseNode& node, const Pieces& pieces);

    const ObliqueParams& params_;
    EntrySorter sorter_;
    std::vector<Entry> entries_, scattered_;
    // Of the pieces of a large node:
    std::vector<std::size_t> begin_;  // no two equal codes are in two of them
    AlignedVector<double> before_, side_;
    std::vector<double> weight_before_;
    std::vector<std::uint32_t> rows_;
};

}  // namespace sketchforest
