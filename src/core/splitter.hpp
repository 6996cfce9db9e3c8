// The search for the best split of one node.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "best_cuts.hpp"
#include "binned_cuts.hpp"
#include "criterion.hpp"
#include "data.hpp"
#include "feature_reader.hpp"
#include "node_search.hpp"
#include "random.hpp"
#include "random_cuts.hpp"
#include "team.hpp"

namespace sketchforest {

class Splitter {
  public:
    // The features and rows of large nodes are shared by the threads of `team`.
    Splitter(const Codes& codes, FeatureReader& reader, SplitCriterion& criterion,
             const GrowParams& params, std::size_t n_rows, Team& team);

    // The best split over a random choice of features; `criterion` has the node open.
    Split search(std::size_t depth, const RowSubset& subset, Range node, const Pieces& pieces);

    // Reorders the node's rows, those that go left first. Returns how many go left.
    std::uint32_t partition(std::size_t depth, RowSubset& subset, Range node, const Split& split);

  private:
    std::span<const std::uint32_t> draw_features();
    std::uint32_t draw_from(std::span<std::uint32_t> features, std::size_t i);
    Outcome search_drawn(std::span<const std::uint32_t> drawn);
    Outcome search_two_rows(std::span<const std::uint32_t> drawn);
    Outcome search_in_bins(std::span<const std::uint32_t> features);
    Outcome search_side_by_side(std::span<const std::uint32_t> features);
    void make_searchers();
    template <class Work>
    void take_turns(std::size_t n_tasks, Work work);
    template <class Work>
    void each_varying(std::span<const std::uint32_t> features, Work work);
    void search_undrawn();
    bool search_feature(std::uint32_t feature, const Column& column);
    Column read(std::uint32_t feature);
    std::optional<FeatureEntries> varying(std::uint32_t feature, const Column& column,
                                          Entry* entries) const;
    std::size_t move_missing_first(std::uint32_t feature, const Column& column,
                                   Entry* entries) const;

    // What one thread needs to search a feature.
    struct Searcher {
        Searcher(Scanner& scanner, const GrowParams& params, std::size_t n_rows)
            : best_cuts(scanner),
              random_cuts(scanner, params.random_cuts ? n_rows : 0),
              entries(n_rows + 1) {}  // one more: see FeatureReader::read

        BestCuts best_cuts;
        RandomCuts random_cuts;
        BinnedCuts binned_cuts;
        std::vector<Entry> entries;  // of the feature under search
    };

    // What is known of a drawn feature of a large node.
    struct Found {
        bool varies = false;
        CodeBounds bounds{};
        double threshold = 0;
        Split best{};
    };

    const Codes& codes_;
    FeatureReader& reader_;
    SplitCriterion& criterion_;
    const GrowParams& params_;
    Stream stream_;
    std::vector<std::uint32_t> features_;  // a permutation; its front is drawn anew at each node
    std::vector<std::uint32_t> right_;     // rows on the right of a split
    NodeSearch search_;
    Searcher own_;
    Team& team_;
    bool shares_nodes_;
    // Of the other threads, made for the first large node.
    std::vector<std::unique_ptr<Scanner>> scanners_;
    std::vector<Searcher> searchers_;
    std::vector<Found> found_;
};

}  // namespace sketchforest
