// A fitted forest: find the leaves of new rows, and average the training rows in them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "data.hpp"

namespace sketchforest {

// The trees, one after the other.
struct Trees {
    std::size_t n_trees = 0;
    const Node* nodes = nullptr;
    const double* wide_thresholds = nullptr;  // null: those in the nodes
    const std::int64_t* node_start = nullptr;
    const std::uint8_t* is_oblique = nullptr;  // per tree; skipped here; null: none is oblique
    // Feature + 1 for each node from which a zero steps to the next node, 0 for other nodes. Null
    // if trees are not chains.
    const std::uint32_t* zero_chains = nullptr;
};

// Rows to predict, dense (any strides, counted in elements) or sparse.
template <class T>
struct DenseX {
    const T* values;
    std::int64_t row_stride, column_stride;
    std::size_t n_rows;
};
template <class T>
struct SparseX {
    const T* values;
    const std::int32_t* columns;
    const std::int64_t* row_start;
    std::size_t n_rows, n_features;
};

// The leaf of each row in each tree: leaves[row * n_trees + tree].
template <class T>
void find_leaves(const Trees& trees, const DenseX<T>& x, std::int32_t* leaves);
template <class T>
void find_leaves(const Trees& trees, const SparseX<T>& x, std::int32_t* leaves);

// Sparse rows mostly meet features that they lack: `Trees::zero_chains`, with some padding. Empty
// unless zeros mostly step to the next node.
std::vector<std::uint32_t> find_zero_chains(const Trees& trees);

// The training rows in the leaves.
struct Leaves {
    std::size_t n_trees = 0;
    const std::int64_t* leaf_start = nullptr;     // tree -> its first place in member_start
    const std::uint32_t* member_start = nullptr;  // leaf -> its first member, within the tree
    const std::int64_t* tree_members = nullptr;   // tree -> its first place in members
    const std::int32_t* members = nullptr;        // training rows
    const std::uint8_t* counts = nullptr;         // their weights: bootstrap counts,
    const double* weights = nullptr;              // or numbers; if both are null, all are 1
    const double* tree_weights = nullptr;         // of trees in averages; null: all are 1

    double weight(std::int64_t member) const {
        return counts ? counts[member] : weights ? weights[member] : 1.0;
    }
    double tree_weight(std::size_t tree) const { return tree_weights ? tree_weights[tree] : 1.0; }
};

// The values to average: one row per training row, sparse or dense.
struct Values {
    SparseRows sparse;
    const double* dense = nullptr;  // n_columns per row; null: sparse
    std::size_t n_rows = 0;
    std::size_t n_columns = 0;
};

// Weighted mean over trees of the weighted means of the leaves. A negative leaf leaves its tree
// out.
template <class T>
void average(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of,
             std::size_t n_rows, T* out);

// The same for sparse values: the non-zeros, or the k largest of each row if k > 0, in order of
// column.
struct SparseMean {
    std::vector<std::int64_t> row_start;
    std::vector<std::int32_t> columns;
    std::vector<double> values;
};
SparseMean average_sparse(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of,
                          std::size_t n_rows, std::size_t k);

// The k largest of each row, zeros included, best first; equal ones in order of column.
void average_top(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of,
                 std::size_t n_rows, std::size_t k, std::int32_t* columns, float* scores);

}  // namespace sketchforest
