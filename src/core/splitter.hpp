// The search for the best split of one node.
#pragma once

#include "columns.hpp"
#include "data.hpp"
#include "random.hpp"
#include "sort.hpp"
#include "target.hpp"

namespace sketchforest {

struct Split {
    bool found = false;
    Score score;
    double left_weight = 0;
    std::uint32_t feature = 0;
    std::uint32_t last_left = 0;    // the largest code on the left
    std::uint32_t first_right = 0;  // the next code seen on the right; see `only_missing_right`
    bool only_missing_right = false;
    bool missing_left = false;
    bool is_random = false;  // a random cut at `cut`, in the feature's own unit
    double cut = 0;

    bool goes_left(std::uint32_t code, std::uint32_t missing_code) const {
        return code == missing_code ? missing_left : code <= last_left;
    }
};

class Splitter {
  public:
    Splitter(const Codes& codes, Columns& columns, Target& target, const GrowParams& params,
             std::size_t n_rows);

    // The best split over a random choice of features; `target` has the node open.
    Split search(std::size_t depth, const Level& level, Range node);

    // Reorders the node's rows: those that go left first. Returns how many they are.
    std::uint32_t partition(std::size_t depth, Level& level, Range node, const Split& split);

  private:
    struct Run {  // entries, and bounds of their codes
        Entry* first;
        std::size_t size;
        std::uint32_t lowest, highest;
    };

    bool try_random(std::span<const std::uint32_t> features, bool& varies);
    bool try_small(std::span<const std::uint32_t> features, bool& varies);
    bool try_column(std::uint32_t feature, const Column& column);
    void best_cut(std::uint32_t feature, const Column& column, std::size_t n_missing);
    double draw_threshold(std::uint32_t feature, std::uint32_t lowest, std::uint32_t highest);
    void random_cut(std::uint32_t feature, const Column& column, std::size_t n_missing);
    void scan(std::uint32_t feature, const Run& run, bool side_is_left);
    void scan_from(std::uint32_t feature, Entry* first, std::size_t n_prefix, std::size_t n,
                   bool side_is_left, bool missing_left);
    void keep_side(const Cut& cut, std::uint32_t feature, std::size_t n_taken, bool side_is_left);
    void keep(const Score& score, std::uint32_t feature, std::size_t n_left, double left_weight);
    std::size_t missing_first(std::uint32_t feature, const Column& column);

    const Codes& codes_;
    Columns& columns_;
    Target& target_;
    const GrowParams& params_;
    Stream stream_;
    Stream cuts_{0};  // of the node under search: how many it needs does not matter to later nodes
    EntrySorter sorter_;
    std::vector<std::uint32_t> features_;  // a permutation; its front is drawn anew at each node
    std::vector<Entry> entries_, side_;
    std::vector<std::uint32_t> table_, bounds_;
    std::vector<double> thresholds_, sums_;

    // The node under search.
    std::size_t depth_ = 0;
    const Level* level_ = nullptr;
    Range node_{};
    Limits limits_{};
    Split best_;
    bool has_zeros_ = false;  // in the feature under search: rows that are not entries
};

}  // namespace sketchforest
