// The best cut of one feature: its entries are sorted, and every cut between them is scored.
#pragma once

#include "criterion.hpp"
#include "node_search.hpp"
#include "sort.hpp"

namespace sketchforest {

class BestCuts {
  public:
    explicit BestCuts(Scanner& scanner) : scanner_(scanner) {}

    void search(NodeSearch& search, const FeatureEntries& entries);

  private:
    struct Run {  // entries that join one side in order of their code, and bounds of the codes
        Entry* first;
        std::size_t size;
        std::uint32_t lowest, highest;
        bool side_is_left;
    };

    void scan(NodeSearch& search, const FeatureEntries& entries, const Run& run);
    void scan_from(NodeSearch& search, const FeatureEntries& entries, const Run& run,
                   std::size_t n_prefix, bool missing_left);

    Scanner& scanner_;
    EntrySorter sorter_;
};

}  // namespace sketchforest
