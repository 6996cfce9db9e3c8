// Validation of arrays before the core reads them: no child, leaf, row, label or code is out of
// range. A check throws std::invalid_argument with the reason. Each array is read once, front to
// back.
#pragma once

#include <span>

#include "forest.hpp"
#include "oblique.hpp"

namespace sketchforest {

// The training rows in the leaves of all trees. Without weights of rows or of trees, all are 1.
struct LeafArrays {
    std::span<const std::int64_t> leaf_start, tree_members;
    std::span<const std::uint32_t> member_start;
    std::span<const std::int32_t> members;
    std::span<const std::uint8_t> counts;
    std::span<const double> weights;
    std::span<const double> tree_weights;
    std::size_t n_rows = 0;  // of the labels

    Leaves view() const;
};

// A forest. wide_thresholds are empty if floats separate the training values, gains if they are
// unknown, and directions if no tree is oblique.
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

// Offsets of consecutive pieces that fill [0, end).
void check_starts(std::span<const std::int64_t> starts, std::size_t end, const char* reason);
// Sparse rows with ascending columns.
void check(const SparseRows& rows, std::size_t n_rows, std::size_t n_entries);
void check(const FloatRows& rows, std::size_t n_entries);

// Sparse X from outside, in any order.
void check_entries(std::span<const std::int64_t> row_start, std::span<const std::int32_t> columns,
                   std::size_t n_features);

// Labels of rows, of n_labels, ascending in each row.
void check_labels(std::span<const std::int64_t> row_start, std::span<const std::int64_t> labels,
                  std::size_t n_labels);

// The lengths of the arrays of codes.
struct CodesExtent {
    std::size_t n_entries = 0;  // of sparse X
    std::size_t n_values = 0;
    std::size_t n_bins = 0;
};
void check(const Codes& codes, const CodesExtent& extent, std::size_t n_threads = 1);

// Parameters that the growers rely on; the others may have any value.
void check(const GrowParams& params, std::size_t n_features);
void check(const ObliqueParams& params);

// Distinct rows below n_rows, and positive weights with a finite sum.
void check(const Bag& bag, std::size_t n_rows);

// Leaves of rows: an index within the tree, or a negative number to leave the tree out.
void check_leaf_numbers(const Leaves& leaves, std::span<const std::int32_t> leaf_of);

void check_rows(std::span<const std::int32_t> rows, std::size_t n_rows);

// Numbers without NaN or infinity.
void check_finite(std::span<const float> numbers);
void check_finite(std::span<const double> numbers);
// Outputs for this impurity; counts must not be negative.
void check_outputs(std::span<const float> numbers, Impurity impurity);
void check_outputs(std::span<const double> numbers, Impurity impurity);

}  // namespace sketchforest
