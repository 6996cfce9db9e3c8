// Random cuts: one per feature, uniform between its smallest and largest value in the node.
#pragma once

#include "criterion.hpp"
#include "node_search.hpp"
#include "random.hpp"
#include "team.hpp"

namespace sketchforest {

// Between which codes of a feature its cut is drawn: the smallest and the largest one in the node,
// which are equal where only missing values differ from the others.
struct CodeBounds {
    std::uint32_t lowest, highest;
};

class RandomCuts {
  public:
    RandomCuts(Scanner& scanner, std::size_t n_rows) : scanner_(scanner), side_(n_rows + 1) {}

    // Cuts of the node that is searched next come from this stream.
    void draw_from(Stream stream) { stream_ = stream; }

    // All features at once, where X is coded by value, the outputs are dense and nothing is
    // missing. Threads take pieces of the rows.
    Outcome search(NodeSearch& search, std::span<const std::uint32_t> features,
                   const DenseNode& outputs, const Pieces& pieces);

    // One feature, that varies in the node.
    void search(NodeSearch& search, const FeatureEntries& entries);

    // The same in three steps. Cuts are drawn in the order of the features; the other steps may be
    // taken side by side.
    static CodeBounds bounds(const NodeSearch& search, const FeatureEntries& entries);
    double draw_threshold(const NodeSearch& search, std::uint32_t feature,
                          const CodeBounds& bounds);
    void score(NodeSearch& search, const FeatureEntries& entries, const CodeBounds& bounds,
               double threshold);

  private:
    struct Place {  // of a cut among the codes
        std::uint32_t last_left, first_right;
        double threshold;
    };

    static Place place(const NodeSearch& search, const FeatureEntries& entries, double threshold,
                       const CodeBounds& bounds);
    void score_sides(NodeSearch& search, const FeatureEntries& entries, const Place& place);
    void cut_off_missing(NodeSearch& search, const FeatureEntries& entries);

    Scanner& scanner_;
    Stream stream_{0};
    std::vector<Entry> side_;
    std::vector<std::uint32_t> table_, bounds_;
    std::vector<double> sums_, by_piece_;
};

}  // namespace sketchforest
