// Random cuts: one per feature, uniform between its smallest and largest value in the node.
#pragma once

#include "criterion.hpp"
#include "node_search.hpp"
#include "random.hpp"

namespace sketchforest {

class RandomCuts {
  public:
    RandomCuts(SplitCriterion& criterion, std::size_t n_rows)
        : criterion_(criterion), side_(n_rows + 1) {}

    // Cuts of the node that is searched next come from this stream.
    void draw_from(Stream stream) { stream_ = stream; }

    // All features at once, where X is coded by value, the outputs are dense and nothing is
    // missing.
    Outcome search(NodeSearch& search, std::span<const std::uint32_t> features);

    // One feature, that varies in the node.
    void search(NodeSearch& search, const FeatureEntries& entries);

  private:
    struct Place {  // of a cut among the codes
        std::uint32_t last_left, first_right;
        double threshold;
    };

    double draw_threshold(const NodeSearch& search, std::uint32_t feature, std::uint32_t lowest,
                          std::uint32_t highest);
    static Place place(const NodeSearch& search, const FeatureEntries& entries, double threshold,
                       std::uint32_t lowest, std::uint32_t highest);
    void score(NodeSearch& search, const FeatureEntries& entries, const Place& place);
    void cut_off_missing(NodeSearch& search, const FeatureEntries& entries);

    SplitCriterion& criterion_;
    Stream stream_{0};
    std::vector<Entry> side_;
    std::vector<std::uint32_t> table_, bounds_;
    std::vector<double> sums_;
};

}  // namespace sketchforest
