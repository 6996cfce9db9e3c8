// The search for the best split of one node.
#pragma once

#include <memory>
#include <optional>

#include "best_cuts.hpp"
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
    Splitter(const Codes& codes, FeatureReader& reader, SplitCriterion& criterion,
             const GrowParams& params, std::size_t n_rows);

    // The best split over a random choice of features; `criterion` has the node open.
    Split search(std::size_t depth, const RowSubset& subset, Range node);

    // Reorders the node's rows, those that go left first. Returns how many go left.
    std::uint32_t partition(std::size_t depth, RowSubset& subset, Range node, const Split& split);

  private:
    std::span<const std::uint32_t> draw_features();
    std::uint32_t draw_from(std::span<std::uint32_t> features, std::size_t i);
    Outcome search_drawn(std::span<const std::uint32_t> drawn);
    Outcome search_two_rows(std::span<const std::uint32_t> drawn);
    Outcome search_side_by_side(std::span<const std::uint32_t> drawn);
    void search_undrawn();
    bool search_feature(std::uint32_t feature, const Column& column);
    Column read(std::uint32_t feature);
    std::optional<FeatureEntries> varying(std::uint32_t feature, const Column& column,
                                          Entry* entries) const;
    std::size_t move_missing_first(std::uint32_t feature, const Column& column,
                                   Entry* entries) const;

    // Searches some of the drawn features of a large node, while others search the others.
    struct Searcher {
        Searcher(std::unique_ptr<Scanner> own, std::size_t n_rows)
            : scanner(std::move(own)), best_cuts(*scanner), entries(n_rows) {}

        std::unique_ptr<Scanner> scanner;
        BestCuts best_cuts;
        std::vector<Entry> entries;
        Split best{};
        bool varies = false;
    };

    const Codes& codes_;
    FeatureReader& reader_;
    SplitCriterion& criterion_;
    const GrowParams& params_;
    Stream stream_;
    BestCuts best_cuts_;
    RandomCuts random_cuts_;
    std::vector<std::uint32_t> features_;  // a permutation; its front is drawn anew at each node
    std::vector<Entry> entries_;           // of the feature under search
    std::vector<std::uint32_t> right_;     // rows on the right of a split
    NodeSearch search_;
    Team team_;
    std::vector<Searcher> searchers_;  // one for each thread, made for the first large node
};

}  // namespace sketchforest
