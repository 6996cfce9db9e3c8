#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "row_criterion.hpp"

namespace sketchforest {
namespace {

struct Weighed {  // rows, by their weight w and the sum of w times the output
    double weight = 0;
    double output = 0;

    Weighed& operator+=(const Weighed& other) {
        weight += other.weight;
        output += other.output;
        return *this;
    }
    Weighed operator-(const Weighed& other) const {
        return {weight - other.weight, output - other.output};
    }
};

// A Fenwick tree over the distinct values of an output, ascending: what lies up to each of them is
// changed and found in as many steps as their number has digits.
struct RankedSums {
    std::vector<Weighed> parts;  // the first is not used

    void clear(std::size_t n_ranks) { parts.assign(n_ranks + 1, {}); }

    void add(std::size_t rank, const Weighed& more) {
        for (std::size_t at = rank + 1; at < parts.size(); at += at & -at) parts[at] += more;
    }
};

// Minus the sum of the distances of outputs from their weighted median, on each side.
class AbsoluteErrorCriterion final : public RowCriterion {
  public:
    AbsoluteErrorCriterion(const Outputs& outputs, const Bag& bag)
        : RowCriterion(outputs, bag), outputs_under_search_(outputs.stride) {}

    double score() const override { return node_score_; }

    SplitPoint scan(const Scan& scan, const Limits& limits, const Score& best) override {
        for (Output& output : outputs_under_search_) {
            output.side.clear(output.values.size());
            output.side_sum = {};
        }
        return scan_cuts(
            scan, limits, best, [&](std::uint32_t row) { join(row); },
            [&](double, double) {
                double side = 0, rest = 0;
                for (const Output& output : outputs_under_search_) {
                    const auto& [values, ranks, all, sum, part, part_sum] = output;
                    side -=
                        distance(output, part_sum, [&](std::size_t at) { return part.parts[at]; });
                    rest -= distance(output, sum - part_sum, [&](std::size_t at) {
                        return all.parts[at] - part.parts[at];
                    });
                }
                return side + rest;
            },
            [&](double score, double weight, const SplitPoint& best) {
                return is_better(score, weight, best);
            });
    }

  private:
    struct Output {
        std::vector<double> values;        // that the node's rows have, ascending
        std::vector<std::uint32_t> ranks;  // of the rows' outputs among them
        RankedSums all;
        Weighed sum;
        RankedSums side;
        Weighed side_sum;
    };

    void sum_up(const RowSubset& subset, Range node) override {
        const auto rows = node.rows(subset);
        rounding_ = node_score_ = 0;
        order_.assign(rows.begin(), rows.end());
        values_.resize(subset.row.size());
        for (std::size_t column = 0; column < outputs_under_search_.size(); ++column) {
            Output& output = outputs_under_search_[column];
            for (const std::uint32_t row : rows)
                values_[row] = dense_output(member_of_row_[row], column);
            std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
                return values_[a] != values_[b] ? values_[a] < values_[b] : a < b;
            });
            output.values.clear();
            output.ranks.resize(subset.row.size());
            for (const std::uint32_t row : order_) {
                if (output.values.empty() || output.values.back() != values_[row])
                    output.values.push_back(values_[row]);
                output.ranks[row] = static_cast<std::uint32_t>(output.values.size() - 1);
            }
            output.all.clear(output.values.size());
            output.sum = {};
            for (const std::uint32_t row : rows) {
                const Weighed weighed{weights_[row], weights_[row] * values_[row]};
                output.all.add(output.ranks[row], weighed);
                output.sum += weighed;
                rounding_ += 1e-13 * std::abs(weighed.output);
            }
            node_score_ -=
                distance(output, output.sum, [&](std::size_t at) { return output.all.parts[at]; });
        }
    }

    // Where outputs are whole numbers, many cuts may gain nothing, and be equally good: in a node
    // of mostly zeros, all that leave zeros in the majority on both sides. The most even one of a
    // feature is taken of them, since the first would cut off single rows.
    bool is_better(double score, double weight, const SplitPoint& best) const {
        const double more = score - best.score.value();
        if (more > rounding_) return true;
        const auto lighter = [&](double side) { return std::min(side, weight_ - side); };
        return best.n_taken > 0 && more >= -rounding_ && score <= node_score_ + rounding_ &&
               lighter(weight) > lighter(best.weight);
    }

    void join(std::uint32_t row) {
        for (Output& output : outputs_under_search_) {
            const std::uint32_t rank = output.ranks[row];
            const Weighed weighed{weights_[row], weights_[row] * output.values[rank]};
            output.side.add(rank, weighed);
            output.side_sum += weighed;
        }
    }

    // Of outputs from their median: the value up to which half of the weight lies. Any value
    // between two medians has the same distance. `part(at)` is a part of the Fenwick tree.
    template <class Part>
    static double distance(const Output& output, const Weighed& sum, Part part) {
        const std::size_t n = output.values.size();
        std::size_t below = 0;
        Weighed sum_below;
        for (std::size_t step = std::bit_floor(n); step > 0; step /= 2) {
            if (below + step >= n) continue;  // the last value is the median at the latest
            Weighed next = sum_below;
            next += part(below + step);
            if (2 * next.weight >= sum.weight) continue;
            below += step;
            sum_below = next;
        }
        const double median = output.values[below];
        return median * (2 * sum_below.weight - sum.weight) + sum.output - 2 * sum_below.output;
    }

    std::vector<Output> outputs_under_search_;
    std::vector<std::uint32_t> order_;
    std::vector<double> values_;  // of one output, by row
    double node_score_ = 0;
    double rounding_ = 0;  // in which scores may differ and yet be the same
};

}  // namespace

std::unique_ptr<SplitCriterion> make_absolute_error_criterion(const Outputs& outputs,
                                                              const Bag& bag) {
    return std::make_unique<AbsoluteErrorCriterion>(outputs, bag);
}

}  // namespace sketchforest
