// Whether arrays are what the core may read: no walk, leaf, row, label or code leads outside of
// them. A check throws std::invalid_argument with the reason. Each array is read once, front to
// back.
#pragma once

#include <span>

#include "forest.hpp"
#include "oblique.hpp"

namespace sketchforest {

// The training rows in the leaves of all trees. An empty span of weights: one each.
struct LeafArrays {
    std::span<const std::int64_t> leaf_start, tree_members;
    std::span<const std::uint32_t> member_start;
    std::span<const std::int32_t> members;
    std::span<const std::uint8_t> counts;
    std::span<const double> weights;
    std::size_t n_rows = 0;  // of the labels

    Leaves view() const;
};

// A forest. Empty: wide_thresholds where nodes have floats that separate the training values, gains
// where they are not known, directions where no tree is oblique.
struct ForestArrays {
    LeafArrays leaves;
    std::span<const std::int64_t> node_start;
    std::span<const Node> nodes;
    std::span<const double> wide_thresholds;
    std::span<const float> gains;
    std::span<const std::int32_t> depths;
    std::span<const std::int64_t> direction_start;
    std::span<const std::int32_t> direction_columns;
    std::span<const std::uint16_t> direction_weights;
    std::span<const std::uint8_t> is_oblique;
    std::size_t n_features = 0;

    Trees view() const;
    ObliqueTrees oblique_view() const;
};

void check(const LeafArrays& leaves);
void check(const ForestArrays& forest, std::size_t n_threads);

// Starts of pieces that fill [0, end).
void check_starts(std::span<const std::int64_t> starts, std::size_t end, const char* reason);
// Sparse rows, of which the columns ascend.
void check(const SparseRows& rows, std::size_t n_rows, std::size_t n_entries);
void check(const FloatRows& rows, std::size_t n_entries);

// Sparse X as it comes from outside, in any order.
void check_entries(std::span<const std::int64_t> row_start, std::span<const std::int32_t> columns,
                   std::size_t n_features);

// Labels of rows, of n_labels, ascending in each row.
void check_labels(std::span<const std::int64_t> row_start, std::span<const std::int64_t> labels,
                  std::size_t n_labels);

// How long the arrays of codes are.
struct CodesExtent {
    std::size_t n_entries = 0;  // of sparse X
    std::size_t n_values = 0;
};
void check(const Codes& codes, const CodesExtent& extent);

// Params within what the growers take: the rest may be anything.
void check(const GrowParams& params, std::size_t n_features);
void check(const ObliqueParams& params);

// Distinct rows of a table of n_rows, and weights above zero whose sum is a number.
void check(const Bag& bag, std::size_t n_rows);

// Leaves that were found: a number of the tree's, or below zero to leave the tree out.
void check_leaf_numbers(const Leaves& leaves, std::span<const std::int32_t> leaf_of);

void check_rows(std::span<const std::int32_t> rows, std::size_t n_rows);

// Numbers that can be sorted and added up.
void check_finite(std::span<const float> numbers);
void check_finite(std::span<const double> numbers);
// Of an impurity that counts, none below zero.
void check_outputs(std::span<const float> numbers, Impurity impurity);
void check_outputs(std::span<const double> numbers, Impurity impurity);

}  // namespace sketchforest
