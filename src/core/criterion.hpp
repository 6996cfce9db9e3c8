// Split criteria: the outputs that splits are searched on, and the score of a split:
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
#include "team.hpp"

namespace sketchforest {

// Scores the cuts of one feature in the open node.
class Scanner {
  public:
    virtual ~Scanner() = default;

    // The best cut of the scan, if it beats `best`.
    virtual SplitPoint scan(const Scan& scan, const Limits& limits, const Score& best) = 0;
};

class SplitCriterion : public Scanner {
  public:
    // Prepares depth `depth` of the stack of subsets, for `parent_rows` of the enclosing subset
    // (depth 0: positions in the bag).
    virtual void enter(std::size_t depth, std::span<const std::uint32_t> parent_rows) = 0;

    // Whether all rows have the same outputs, so that no split helps.
    virtual bool pure(std::size_t depth, std::span<const std::uint32_t> rows) const = 0;

    // Opens the node whose splits will be scored. `slot` is where `close` left its sums when the
    // node was created; with no_slot, its rows are summed.
    virtual void open(std::size_t depth, const RowSubset& subset, Range node, std::size_t slot,
                      const Pieces& pieces) = 0;

    virtual double weight() const = 0;

    // Score of the unsplit node.
    virtual double score() const = 0;

    // Scans the open node at the same time, on another thread; null where scans share memory.
    virtual std::unique_ptr<Scanner> another_scanner() const { return nullptr; }

    // Fills a small node with the outputs of its rows, in order; false if there are too many.
    virtual bool fill(SmallNode& to, const RowSubset& subset, Range node) = 0;

    // The open node as rows of outputs; z is null if they are not dense.
    virtual DenseNode dense_node() = 0;

    // Called after the node has been split. The sums of the lighter child, whose rows and weight
    // are given, go to `slot`; the heavier child is opened next, from slot + 1.
    virtual void close(const RowSubset& subset, Range lighter, double weight, std::size_t slot) = 0;

    static constexpr std::size_t no_slot = ~std::size_t{0};
};

// `reads_often`: the search of a node reads each row more than once.
std::unique_ptr<SplitCriterion> make_dense_criterion(const Outputs& outputs, bool reads_often);
std::unique_ptr<SplitCriterion> make_sparse_criterion(const SparseRows& outputs, const Bag& bag,
                                                      bool reads_often, bool random_cuts);
// These two take outputs without padding.
std::unique_ptr<SplitCriterion> make_deviance_criterion(const Outputs& outputs, const Bag& bag,
                                                        Impurity impurity);
std::unique_ptr<SplitCriterion> make_absolute_error_criterion(const Outputs& outputs,
                                                              const Bag& bag);

// Rows of the first n_components outputs, times their weights.
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
