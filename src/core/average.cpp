#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "forest.hpp"

namespace sketchforest {
namespace {

// The weight of a leaf in units, so that sums of shares are exact: a number that every number of
// rows up to 30 divides, times 32. The sum over a hundred trees is an integer that a double holds.
constexpr double whole_leaf = 32 * 2329089562800.0;
// Other numbers of rows, up to this one, have shares that are rounded to units: an error of 1e-11.
constexpr double most_rounded = 1024;
// With values, their digits need room, too: up to 16 rows.
constexpr double whole_leaf_of_values = 720720;

struct Share {
    std::int64_t row;  // of the training data
    double weight;
};

// The training rows that one row's leaves hold, with weights of which only ratios count: a mean is
// divided once, by the sum of them all. So a label of all rows has the mean 1, and labels that are
// equally frequent have equal means.
class Shares {
  public:
    Shares(std::size_t n_train, bool has_values) : n_train_(n_train), has_values_(has_values) {}

    const std::vector<Share>& collect(const Leaves& leaves, const std::int32_t* leaf_of) {
        std::size_t n_used = 0;
        for (std::size_t tree = 0; tree < leaves.n_trees; ++tree) n_used += leaf_of[tree] >= 0;
        look_up(leaves, leaf_of, n_used == 1);
        // One row per leaf: its values are added as they are.
        if (shares_.size() == n_used && !leaves.tree_weights)
            for (Share& share : shares_) share.weight = 1;
        if (shares_.size() > 2 * n_used) merge();
        return shares_;
    }

    double total() const {
        double total = 0;
        for (const Share& share : shares_) total += share.weight;
        return total;
    }

  private:
    double whole() const { return has_values_ ? whole_leaf_of_values : whole_leaf; }

    // In units for one of the leaf's weight; 0 where that is no number of rows, but any weight.
    double share_of_one(double leaf_weight) const {
        if (leaf_weight < 1 || leaf_weight > most_rounded) return 0;
        const double share = whole() / leaf_weight;
        return has_values_ ? share : std::nearbyint(share);
    }

    // Tree by tree, so that sums are always made in the same order. Collected before they are used,
    // so that look-ups in different trees overlap. A single tree needs no units.
    void look_up(const Leaves& leaves, const std::int32_t* leaf_of, bool is_alone) {
        shares_.clear();
        const auto find = [&](std::size_t tree) {
            return leaves.member_start + leaves.leaf_start[tree] + std::max(leaf_of[tree], 0);
        };
        constexpr std::size_t ahead = 8;
        for (std::size_t tree = 0; tree < leaves.n_trees; ++tree) {
            // Each tree lies elsewhere in memory, so its entries are prefetched.
            if (tree + 2 * ahead < leaves.n_trees) __builtin_prefetch(find(tree + 2 * ahead));
            if (tree + ahead < leaves.n_trees) {
                const std::int64_t next = leaves.tree_members[tree + ahead] + *find(tree + ahead);
                __builtin_prefetch(leaves.members + next);
                if (leaves.counts) __builtin_prefetch(leaves.counts + next);
            }
            if (leaf_of[tree] < 0) continue;
            const std::uint32_t* leaf = find(tree);
            const std::int64_t begin = leaves.tree_members[tree] + leaf[0];
            const std::int64_t end = leaves.tree_members[tree] + leaf[1];
            const double of_tree = leaves.tree_weight(tree);
            if (end - begin == 1) {
                shares_.push_back({leaves.members[begin], whole() * of_tree});
                continue;
            }
            double total = 0;
            for (std::int64_t at = begin; at < end; ++at) total += leaves.weight(at);
            const double one = is_alone ? 1.0 : share_of_one(total);
            for (std::int64_t at = begin; at < end; ++at) {
                const double weight = leaves.weight(at);
                const double share = one > 0 ? weight * one : weight / total * whole();
                shares_.push_back({leaves.members[at], share * of_tree});
            }
        }
    }

    // Large leaves of different trees share many rows: each row is visited once, at its first
    // place.
    void merge() {
        place_.resize(n_train_);
        std::size_t n = 0;
        for (const Share& share : shares_) {
            std::uint32_t& place = place_[share.row];  // after the last: 0 is nowhere
            if (place == 0) {
                shares_[n++] = share;
                place = static_cast<std::uint32_t>(n);
            } else {
                shares_[place - 1].weight += share.weight;
            }
        }
        shares_.resize(n);
        for (const Share& share : shares_) place_[share.row] = 0;
    }

    std::size_t n_train_;
    bool has_values_;
    std::vector<Share> shares_;
    std::vector<std::uint32_t> place_;  // of each training row among the shares
};

// Calls visit(column, value) for all values of the rows, each times the row's share.
template <class Visit>
void each_value(const SparseRows& rows, const std::vector<Share>& shares, Visit visit) {
    constexpr std::size_t ahead = 8;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        // Training rows come in an order that the processor cannot predict.
        if (i + 2 * ahead < shares.size())
            __builtin_prefetch(rows.row_start + shares[i + 2 * ahead].row);
        if (i + ahead < shares.size()) {
            const std::int32_t* next = rows.columns + rows.row_start[shares[i + ahead].row];
            __builtin_prefetch(next);
            __builtin_prefetch(next + 16);
        }
        const auto [row, weight] = shares[i];
        const std::int64_t end = rows.row_start[row + 1];
        if (rows.values)
            for (std::int64_t at = rows.row_start[row]; at < end; ++at)
                visit(rows.columns[at], weight * static_cast<double>(rows.values[at]));
        else
            for (std::int64_t at = rows.row_start[row]; at < end; ++at)
                visit(rows.columns[at], weight);
    }
}

// Adds up the means of the leaves, each a sum divided once, and gives the weight of them all.
double add_dense(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of,
                 std::vector<double>& leaf_sums, double* sums) {
    const std::size_t n = values.n_columns;
    const auto row_of = [&](std::int64_t at) {
        return values.dense + leaves.members[at] * static_cast<std::int64_t>(n);
    };
    double all_trees = 0;
    for (std::size_t tree = 0; tree < leaves.n_trees; ++tree) {
        if (leaf_of[tree] < 0) continue;
        const double of_tree = leaves.tree_weight(tree);
        all_trees += of_tree;
        const std::uint32_t* leaf = leaves.member_start + leaves.leaf_start[tree] + leaf_of[tree];
        const std::int64_t begin = leaves.tree_members[tree] + leaf[0];
        const std::int64_t end = leaves.tree_members[tree] + leaf[1];
        if (end - begin == 1) {
            const double* from = row_of(begin);
            for (std::size_t j = 0; j < n; ++j) sums[j] += of_tree * from[j];
            continue;
        }
        std::fill(leaf_sums.begin(), leaf_sums.end(), 0.0);
        double total = 0;
        for (std::int64_t at = begin; at < end; ++at) {
            const double* from = row_of(at);
            const double weight = leaves.weight(at);
            for (std::size_t j = 0; j < n; ++j) leaf_sums[j] += weight * from[j];
            total += weight;
        }
        for (std::size_t j = 0; j < n; ++j) sums[j] += of_tree * (leaf_sums[j] / total);
    }
    return all_trees;
}

// Means of one row at a time, with a list of the columns it touched.
class SparseSums {
  public:
    explicit SparseSums(const Values& values)
        : sums_(values.n_columns, 0.0),
          is_touched_((values.n_columns + 7) / 8 * 8),
          shares_(values.n_rows, values.sparse.values != nullptr) {}

    void fill(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of) {
        for (const std::int32_t column : touched_) {
            sums_[column] = 0;
            is_touched_[column] = false;
        }
        touched_.clear();
        each_value(values.sparse, shares_.collect(leaves, leaf_of),
                   [&](std::int32_t column, double value) {
                       if (!is_touched_[column]) {
                           is_touched_[column] = true;
                           touched_.push_back(column);
                       }
                       sums_[column] += value;
                   });
        const double total = shares_.total();
        // NaN cannot be sorted.
        if (!touched_.empty() && !(0 < total && total < std::numeric_limits<double>::infinity()))
            throw std::invalid_argument("weights of rows in a leaf must have a finite sum");
        bool are_finite = true;
        for (const std::int32_t column : touched_) {
            sums_[column] /= total;
            are_finite &= std::isfinite(sums_[column]);
        }
        if (!are_finite)
            throw std::invalid_argument("weighted values of rows in a leaf must have a finite sum");
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

    // Puts touched() into ascending order: by a walk over all columns, where it is shorter.
    void order() {
        if (touched_.size() * steps_of_a_sort < n_words()) {
            std::sort(touched_.begin(), touched_.end());
            return;
        }
        std::size_t n = 0;
        for (std::size_t word = 0; word < n_words(); ++word) {
            std::uint64_t marks;
            std::memcpy(&marks, is_touched_.data() + 8 * word, 8);
            for (; marks; marks &= marks - 1)  // a column is marked by one bit of its byte
                touched_[n++] = static_cast<std::int32_t>(8 * word) + __builtin_ctzll(marks) / 8;
        }
    }

    std::vector<std::int32_t>& touched() { return touched_; }
    bool is_touched(std::int32_t column) const { return is_touched_[column]; }
    double operator[](std::int32_t column) const { return sums_[column]; }

  private:
    static constexpr std::size_t steps_of_a_sort = 4;  // for each column, about

    std::size_t n_words() const { return is_touched_.size() / 8; }

    std::vector<double> sums_;
    std::vector<std::uint8_t> is_touched_;  // 0 or 1, in whole words
    std::vector<std::int32_t> touched_;
    Shares shares_;
};

}  // namespace

template <class T>
void average(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of,
             std::size_t n_rows, T* out) {
    const std::size_t n = values.n_columns;
    Shares shares(values.n_rows, values.sparse.values != nullptr);
    std::vector<double> leaf_sums(values.dense ? n : 0), row_sums(n);
    double* const sums = row_sums.data();
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::int32_t* const own_leaves = leaf_of + i * leaves.n_trees;
        std::fill_n(sums, n, 0.0);
        double total = 0;
        if (values.dense) {
            total = add_dense(leaves, values, own_leaves, leaf_sums, sums);
        } else {
            each_value(values.sparse, shares.collect(leaves, own_leaves),
                       [sums](std::int32_t column, double value) { sums[column] += value; });
            total = shares.total();
        }
        if (total == 0) total = 1;  // no tree
        std::transform(sums, sums + n, out + i * n,
                       [total](double sum) { return static_cast<T>(sum / total); });
    }
}

SparseMean average_sparse(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of,
                          std::size_t n_rows, std::size_t k) {
    SparseMean mean;
    mean.row_start.push_back(0);
    SparseSums sums(values);
    for (std::size_t i = 0; i < n_rows; ++i) {
        sums.fill(leaves, values, leaf_of + i * leaves.n_trees);
        std::vector<std::int32_t>& columns = sums.touched();
        if (k > 0 && k < columns.size()) {
            sums.select(k, false);
            std::sort(columns.begin(), columns.begin() + k);
        } else {
            sums.order();
        }
        const std::size_t n = k > 0 ? std::min(k, columns.size()) : columns.size();
        for (std::size_t j = 0; j < n; ++j) {
            if (sums[columns[j]] == 0) continue;
            mean.columns.push_back(columns[j]);
            mean.values.push_back(sums[columns[j]]);
        }
        mean.row_start.push_back(static_cast<std::int64_t>(mean.columns.size()));
    }
    return mean;
}

void average_top(const Leaves& leaves, const Values& values, const std::int32_t* leaf_of,
                 std::size_t n_rows, std::size_t k, std::int32_t* columns, float* scores) {
    SparseSums sums(values);
    for (std::size_t i = 0; i < n_rows; ++i) {
        sums.fill(leaves, values, leaf_of + i * leaves.n_trees);
        // Too few columns have a score: the first of the others, whose score is zero, are added.
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
