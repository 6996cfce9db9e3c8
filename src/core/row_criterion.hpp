// Base of the criteria other than variance: outputs are read where they are stored, and a node is
// summed up from its rows.
#pragma once

#include <algorithm>

#include "criterion.hpp"

namespace sketchforest {

class RowCriterion : public SplitCriterion {
  public:
    RowCriterion(const Outputs& outputs, const Bag& bag) : outputs_(outputs), bag_(bag) {}

    void enter(std::size_t depth, std::span<const std::uint32_t> parent_rows) override {
        if (members_.size() <= depth) members_.resize(depth + 1);
        members_[depth].assign(parent_rows.begin(), parent_rows.end());
        if (depth == 0) return;
        for (std::uint32_t& member : members_[depth]) member = members_[depth - 1][member];
    }

    bool pure(std::size_t depth, std::span<const std::uint32_t> rows) const override {
        const auto& members = members_[depth];
        for (const std::uint32_t row : rows)
            if (!is_same(members[rows.front()], members[row])) return false;
        return true;
    }

    void open(std::size_t depth, const RowSubset& subset, Range node, std::size_t,
              const Pieces&) override {
        member_of_row_ = members_[depth].data();
        weights_ = subset.weight.data();
        weight_ = total_weight(subset, node);
        sum_up(subset, node);
    }

    double weight() const override { return weight_; }

    bool fill(SmallNode&, const RowSubset&, Range) override { return false; }
    DenseNode dense_node() override { return {}; }
    void close(const RowSubset&, Range, double, std::size_t) override {}

  protected:
    virtual void sum_up(const RowSubset& subset, Range node) = 0;

    // Calls f(column, value) for the outputs of a member of the bag that are stored.
    template <class F>
    void each_output(std::uint32_t member, F f) const {
        if (outputs_.z) {
            for (std::size_t c = 0; c < outputs_.stride; ++c) f(c, dense_output(member, c));
            return;
        }
        const SparseRows& sparse = outputs_.sparse;
        const std::int64_t row = bag_.rows[member];
        for (std::int64_t i = sparse.row_start[row]; i < sparse.row_start[row + 1]; ++i)
            f(static_cast<std::size_t>(sparse.columns[i]), sparse.values ? sparse.values[i] : 1.0);
    }

    double dense_output(std::size_t member, std::size_t column) const {
        const std::size_t at = member * outputs_.stride + column;
        return outputs_.wide ? static_cast<const double*>(outputs_.z)[at]
                             : static_cast<double>(static_cast<const float*>(outputs_.z)[at]);
    }

    // The best cut of the scan, where `join` takes a row to side A, and `score_cut` scores the
    // sides by their weights. Minus infinity is not better than anything.
    template <class Join, class ScoreCut, class IsBetter>
    SplitPoint scan_cuts(const Scan& scan, const Limits& limits, const Score& best, Join join,
                         ScoreCut score_cut, IsBetter is_better) const {
        SplitPoint cut{best, 0, 0};
        double weight = 0;
        const std::size_t most = limits.n_rows - limits.min_rows;
        const Entry* entries = scan.entries;
        for (std::size_t taken = 1; taken <= std::min(scan.n_entries, most); ++taken) {
            const Entry& entry = entries[taken - 1];
            weight += weights_[entry.row];
            join(entry.row);
            if (taken < scan.n_prefix || (taken == scan.n_prefix && !scan.score_prefix)) continue;
            if (taken > scan.n_prefix && taken < scan.n_entries &&
                entries[taken].code == entry.code)
                continue;
            const double other = limits.weight - weight;
            if (taken < limits.min_rows || weight < limits.min_weight || other < limits.min_weight)
                continue;
            const double score = score_cut(weight, other);
            if (is_better(score, weight, cut)) cut = {{score, 1}, taken, weight};
        }
        return cut;
    }

    const Outputs& outputs_;
    const Bag& bag_;
    const std::uint32_t* member_of_row_ = nullptr;  // rows of the open node's subset
    const double* weights_ = nullptr;
    double weight_ = 0;

  private:
    bool is_same(std::uint32_t one, std::uint32_t other) const {
        if (outputs_.z) {
            for (std::size_t c = 0; c < outputs_.stride; ++c)
                if (dense_output(one, c) != dense_output(other, c)) return false;
            return true;
        }
        const SparseRows& sparse = outputs_.sparse;
        const std::int64_t a = sparse.row_start[bag_.rows[one]];
        const std::int64_t b = sparse.row_start[bag_.rows[other]];
        const std::int64_t size = sparse.row_start[bag_.rows[one] + 1] - a;
        const auto same = [&](const auto* array) {
            return std::equal(array + a, array + a + size, array + b);
        };
        return sparse.row_start[bag_.rows[other] + 1] - b == size && same(sparse.columns) &&
               (!sparse.values || same(sparse.values));
    }

    std::vector<std::vector<std::uint32_t>> members_;  // of the rows of each subset, by depth
};

}  // namespace sketchforest
