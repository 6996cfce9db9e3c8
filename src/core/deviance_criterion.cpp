#include <algorithm>
#include <cmath>
#include <limits>

#include "row_criterion.hpp"

namespace sketchforest {
namespace {

// Entropy and the deviance of Poisson, which have one form. A side scores
//
//     sum over outputs of S log(S / w),   S = weighted sum of the output on that side.
//
// Outputs are the indicators of classes, or counts. For labels, rows without the label count as a
// second class.
class DevianceCriterion final : public RowCriterion {
  public:
    DevianceCriterion(const Outputs& outputs, const Bag& bag, Impurity impurity)
        : RowCriterion(outputs, bag),
          counts_absence_(impurity == Impurity::label_entropy),
          needs_positive_(impurity == Impurity::poisson),
          total_(outputs.z ? outputs.stride : outputs.sparse.n_columns),
          side_(total_.size()) {}

    double score() const override {
        double sum = 0;
        for (const std::uint32_t column : seen_) sum += of_output(total_[column].sum, weight_);
        return sum;
    }

    // Computed from all outputs at each cut: if updated by differences, scores of cuts with the
    // same sides would differ by rounding.
    SplitPoint scan(const Scan& scan, const Limits& limits, const Score& best) override {
        for (const std::uint32_t column : seen_) side_[column] = {};
        return scan_cuts(
            scan, limits, best, [&](std::uint32_t row) { add(row, side_); },
            [&](double weight, double other) {
                double sum = 0, other_sum = 0;
                for (const std::uint32_t column : seen_) {
                    const Sum& total = total_[column];
                    const Sum& side = side_[column];
                    if (needs_positive_ &&
                        (side.n_positive == 0 || side.n_positive == total.n_positive))
                        return -std::numeric_limits<double>::infinity();
                    sum += of_output(side.sum, weight);
                    other_sum += of_output(total.sum - side.sum, other);
                }
                return sum + other_sum;
            },
            [](double score, double, const SplitPoint& best) {
                return score > best.score.value();
            });
    }

  private:
    struct Sum {
        double sum = 0;
        std::uint32_t n_positive = 0;  // rows: no side of zeros looks positive by rounding
    };

    void sum_up(const RowSubset& subset, Range node) override {
        for (const std::uint32_t column : seen_) total_[column] = {};
        seen_.clear();
        if (needs_positive_)  // an output of zeros alone forbids any split
            for (std::uint32_t column = 0; column < total_.size(); ++column)
                seen_.push_back(column);
        for (const std::uint32_t row : node.rows(subset)) add(row, total_);
        if (needs_positive_) return;
        for (const std::uint32_t row : node.rows(subset))
            each_output(member_of_row_[row], [&](std::size_t column, double) {
                Sum& total = total_[column];
                if (total.n_positive > 0) seen_.push_back(static_cast<std::uint32_t>(column));
                total.n_positive = 0;  // only a mark from here on
            });
        // In a fixed order, so that rounding does not depend on the order of the rows.
        std::sort(seen_.begin(), seen_.end());
    }

    void add(std::uint32_t row, std::vector<Sum>& sums) const {
        const double weight = weights_[row];
        each_output(member_of_row_[row], [&](std::size_t column, double value) {
            sums[column].sum += weight * value;
            sums[column].n_positive += value > 0;
        });
    }

    double of_output(double sum, double weight) const {
        const double score = term(sum, weight);
        return counts_absence_ ? score + term(weight - sum, weight) : score;
    }

    static double term(double sum, double weight) {
        return sum > 0 ? sum * std::log(sum / weight) : 0;
    }

    bool counts_absence_, needs_positive_;
    std::vector<Sum> total_, side_;
    std::vector<std::uint32_t> seen_;  // outputs that a row of the open node has, ascending
};

}  // namespace

std::unique_ptr<SplitCriterion> make_deviance_criterion(const Outputs& outputs, const Bag& bag,
                                                        Impurity impurity) {
    return std::make_unique<DevianceCriterion>(outputs, bag, impurity);
}

}  // namespace sketchforest
