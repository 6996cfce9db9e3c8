// The outputs that splits are searched on, and the score of a split:
//
//     score = |S_A|^2 / w_A + |S_B|^2 / w_B,   S = weighted sum of the outputs of a side,
//
// which is largest where the variance within the two sides is smallest. Other criteria have scores
// of their own. The gain of a split is its score minus the score of the unsplit node.
#pragma once

#include <memory>

#include "data.hpp"
#include "kernels.hpp"
#include "row_subset.hpp"

namespace sketchforest {

class SplitCriterion {
  public:
    virtual ~SplitCriterion() = default;

    // Prepares depth `depth` of the stack of subsets, for `parent_rows` of the enclosing subset
    // (depth 0: positions in the bag).
    virtual void enter(std::size_t depth, std::span<const std::uint32_t> parent_rows) = 0;

    // Whether all outputs of the rows are the same: then no split can be of use.
    virtual bool pure(std::size_t depth, std::span<const std::uint32_t> rows) const = 0;

    // Sums up the node whose splits will be scored. A slot says where `close` left the sums when
    // the node was made; no_slot: sum its rows.
    virtual void open(std::size_t depth, const RowSubset& subset, Range node, std::size_t slot) = 0;

    virtual double weight() const = 0;

    // Score of the node as it is, unsplit.
    virtual double score() const = 0;

    // The best cut of the scan if it beats `best`.
    virtual SplitPoint scan(const Scan& scan, const Limits& limits, const Score& best) = 0;

    // Gives a small node the outputs of its rows, in their order; false where they are too many.
    virtual bool fill(SmallNode& to, const RowSubset& subset, Range node) = 0;

    // The open node as rows of outputs; z is null where they are not dense.
    virtual DenseNode dense_node() = 0;

    // Ends the search. The node has been split. The lighter child, whose rows and weight are given,
    // waits in `slot`; the heavier one is opened next, from slot + 1.
    virtual void close(const RowSubset& subset, Range lighter, double weight, std::size_t slot) = 0;

    static constexpr std::size_t no_slot = ~std::size_t{0};
};

// `reads_often`: the search of a node reads each of its rows more than once.
std::unique_ptr<SplitCriterion> make_dense_criterion(const Outputs& outputs, bool reads_often);
std::unique_ptr<SplitCriterion> make_sparse_criterion(const SparseRows& outputs, const Bag& bag,
                                                      bool reads_often, bool random_cuts);
// Of outputs without padding.
std::unique_ptr<SplitCriterion> make_deviance_criterion(const Outputs& outputs, const Bag& bag,
                                                        Impurity impurity);
std::unique_ptr<SplitCriterion> make_absolute_error_criterion(const Outputs& outputs,
                                                              const Bag& bag);

// Rows of outputs, of which the first n_components count, times their weights.
struct SmallOutputs {
    double z[most_small * most_components];
    double weights[most_small];

    template <class T>
    void fill(const T* rows, std::size_t stride, const RowSubset& subset, Range node,
              std::size_t n_components) {
        double* to = z;
        double* to_weight = weights;
        for (const std::uint32_t row : node.rows(subset)) {
            const double weight = subset.weight[row];
            for (std::size_t c = 0; c < n_components; ++c) *to++ = weight * rows[row * stride + c];
            *to_weight++ = weight;
        }
    }
};

inline double total_weight(const RowSubset& subset, Range node) {
    double weight = 0;
    for (const std::uint32_t row : node.rows(subset)) weight += subset.weight[row];
    return weight;
}

}  // namespace sketchforest
