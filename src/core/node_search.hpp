// The state of the search in one node.
#pragma once

#include "data.hpp"
#include "kernels.hpp"
#include "row_subset.hpp"
#include "team.hpp"

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

// The outcome of a search over several features.
enum class Outcome {
    unsuited,  // this kind of search does not apply to the node; nothing was done
    constant,  // no feature varies in the node
    searched,  // the best split so far covers all of them
};

// The entries of one feature, those with a missing value first.
struct FeatureEntries {
    std::uint32_t feature;
    Entry* first;
    std::size_t size;
    std::size_t n_missing;
    std::uint32_t min_code, max_code;  // bounds of the codes, that of missing values included
    bool has_zeros;                    // there are rows that are no entries
};

// The node under search, and its best split so far.
struct NodeSearch {
    const Codes& codes;
    std::size_t depth = 0;
    const RowSubset* subset = nullptr;
    Range node{};
    const Pieces* pieces = nullptr;  // of the rows, for work whose order does not matter
    Limits limits{};
    Split best{};

    std::span<const std::uint32_t> rows() const { return node.rows(*subset); }

    void keep(const Score& score, std::uint32_t feature, std::size_t n_left, double left_weight) {
        best = Split{};
        best.found = true;
        best.score = score;
        best.left_weight = left_weight;
        best.feature = feature;
        best.last_left = codes.missing_code(feature) - 1;
        // Where training has no missing value to learn from, one met later follows the majority.
        best.missing_left = n_left > node.size() - n_left;
    }

    // A cut whose side A, of `n_taken` rows, is the left side or the right one.
    void keep_side(const SplitPoint& cut, std::uint32_t feature, std::size_t n_taken,
                   bool side_is_left) {
        if (side_is_left)
            keep(cut.score, feature, n_taken, cut.weight);
        else
            keep(cut.score, feature, node.size() - n_taken, limits.weight - cut.weight);
    }
};

}  // namespace sketchforest
