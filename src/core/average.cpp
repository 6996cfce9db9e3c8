#include <algorithm>

#include "forest.hpp"

namespace sketchforest {
namespace {

// Calls visit(training row, its share) for every training row that one row's leaves hold, tree by
// tree, so that sums are always made in the same order.
template <class Visit>
void each_share(const Leaves& leaves, const std::int32_t* leaf_of, Visit visit) {
    std::size_t n_used = 0;
    for (std::size_t tree = 0; tree < leaves.n_trees; ++tree) n_used += leaf_of[tree] >= 0;
    const double tree_share = n_used ? 1.0 / static_cast<double>(n_used) : 0.0;
    for (std::size_t tree = 0; tree < leaves.n_trees; ++tree) {
        if (leaf_of[tree] < 0) continue;
        const std::uint32_t* leaf = leaves.member_start + leaves.leaf_start[tree] + leaf_of[tree];
        const std::int64_t begin = leaves.tree_members[tree] + leaf[0];
        const std::int64_t end = leaves.tree_members[tree] + leaf[1];
        const auto weight = [&](std::int64_t at) {
            return leaves.counts ? leaves.counts[at] : leaves.weights ? leaves.weights[at] : 1.0;
        };
        double total = 0;
        for (std::int64_t at = begin; at < end; ++at) total += weight(at);
        for (std::int64_t at = begin; at < end; ++at)
            visit(leaves.members[at], weight(at) / total * tree_share);
    }
}

void add_dense(const Values& values, std::int64_t row, double share, double* sums) {
    const double* from = values.dense + row * static_cast<std::int64_t>(values.n_columns);
    for (std::size_t j = 0; j < values.n_columns; ++j) sums[j] += share * from[j];
}

template <class Visit>
void each_value(const SparseRows& rows, std::int64_t row, Visit visit) {
    for (std::int64_t at = rows.row_start[row]; at < rows.row_start[row + 1]; ++at)
        visit(rows.columns[at], rows.values ? static_cast<double>(rows.values[at]) : 1.0);
}

// Sums of one row at a time, with a list of the columns it touched.
class SparseSums {
  public:
    explicit SparseSums(std::size_t n_columns) : sums_(n_columns, 0.0), is_touched_(n_columns) {}

    void fill(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of) {
        for (const std::int32_t column : touched_) {
            sums_[column] = 0;
            is_touched_[column] = false;
        }
        touched_.clear();
        each_share(leaves, leaf_of, [&](std::int64_t row, double share) {
            each_value(values.sparse, row, [&](std::int32_t column, double value) {
                if (!is_touched_[column]) {
                    is_touched_[column] = true;
                    touched_.push_back(column);
                }
                sums_[column] += share * value;
            });
        });
    }

    // Moves the k best columns to the front of touched(), best first where `sorted`.
    void select(std::size_t k, bool sorted) {
        const auto better = [&](std::int32_t a, std::int32_t b) {
            const auto score_a = static_cast<float>(sums_[a]);  // as the caller will see it
            const auto score_b = static_cast<float>(sums_[b]);
            return score_a != score_b ? score_a > score_b : a < b;
        };
        if (k < touched_.size()) {
            std::nth_element(touched_.begin(), touched_.begin() + k, touched_.end(), better);
        }
        if (sorted)
            std::sort(touched_.begin(), touched_.begin() + std::min(k, touched_.size()), better);
    }

    std::vector<std::int32_t>& touched() { return touched_; }
    bool is_touched(std::int32_t column) const { return is_touched_[column]; }
    double operator[](std::int32_t column) const { return sums_[column]; }

  private:
    std::vector<double> sums_;
    std::vector<std::uint8_t> is_touched_;
    std::vector<std::int32_t> touched_;
};

}  // namespace

template <class T>
void average(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of,
             std::size_t n_rows, T* out) {
    std::vector<double> sums(values.n_columns);
    for (std::size_t i = 0; i < n_rows; ++i) {
        std::fill(sums.begin(), sums.end(), 0.0);
        each_share(leaves, leaf_of + i * leaves.n_trees, [&](std::int64_t row, double share) {
            if (values.dense)
                add_dense(values, row, share, sums.data());
            else
                each_value(values.sparse, row, [&](std::int32_t column, double value) {
                    sums[column] += share * value;
                });
        });
        std::copy(sums.begin(), sums.end(), out + i * values.n_columns);
    }
}

SparseMean average_sparse(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of,
                          std::size_t n_rows, std::size_t k) {
    SparseMean mean;
    mean.row_start.push_back(0);
    SparseSums sums(values.n_columns);
    for (std::size_t i = 0; i < n_rows; ++i) {
        sums.fill(leaves, values, leaf_of + i * leaves.n_trees);
        std::vector<std::int32_t>& columns = sums.touched();
        std::size_t n = columns.size();
        if (k > 0 && k < n) {
            sums.select(k, false);
            n = k;
        }
        const std::size_t first = mean.columns.size();
        for (std::size_t j = 0; j < n; ++j)
            if (sums[columns[j]] != 0) mean.columns.push_back(columns[j]);
        std::sort(mean.columns.begin() + first, mean.columns.end());
        for (std::size_t j = first; j < mean.columns.size(); ++j)
            mean.values.push_back(sums[mean.columns[j]]);
        mean.row_start.push_back(static_cast<std::int64_t>(mean.columns.size()));
    }
    return mean;
}

void average_top(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of,
                 std::size_t n_rows, std::size_t k, std::int32_t* columns, float* scores) {
    SparseSums sums(values.n_columns);
    for (std::size_t i = 0; i < n_rows; ++i) {
        sums.fill(leaves, values, leaf_of + i * leaves.n_trees);
        // Too few columns of their own: the first of the others, whose score is zero, join.
        const std::size_t n_touched = sums.touched().size();
        std::vector<std::int32_t>& candidates = sums.touched();
        for (std::int32_t column = 0;
             candidates.size() < n_touched + k &&
             column < static_cast<std::int32_t>(values.n_columns) && n_touched < k;
             ++column)
            if (!sums.is_touched(column)) candidates.push_back(column);
        sums.select(k, true);
        for (std::size_t j = 0; j < k; ++j) {
            columns[i * k + j] = candidates[j];
            scores[i * k + j] = static_cast<float>(sums[candidates[j]]);
        }
    }
}

template void average(const Leaves&, const Values&, const std::int32_t*, std::size_t, float*);
template void average(const Leaves&, const Values&, const std::int32_t*, std::size_t, double*);

}  // namespace sketchforest
