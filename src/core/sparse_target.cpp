#include <algorithm>
#include <numeric>
#include <utility>

#include "aligned.hpp"
#include "target.hpp"

namespace sketchforest {
namespace {

// Outputs of which most are zero: adding a row to a side changes |S_A|^2 and S.S_A by terms of the
// row's own labels alone, so a row costs its labels and not the number of outputs.
class SparseTarget final : public Target {
  public:
    SparseTarget(const SparseRows& outputs, const Bag& bag, bool reads_often)
        : outputs_(outputs),
          bag_(bag),
          reads_often_(reads_often),
          padding_(reads_often && !outputs.values ? 4 : 1),
          side_(outputs.n_columns + 1),  // the last one is nobody's: see append
          total_(outputs.n_columns) {}

    void enter(std::size_t depth, std::span<const std::uint32_t> parent_rows) override {
        if (stack_.size() <= depth) stack_.resize(depth + 1);
        Rows& to = stack_[depth];
        to.start.assign(1, 0);
        to.n_labels.clear();
        to.labels.clear();
        to.values.clear();
        for (const std::uint32_t parent_row : parent_rows) {
            if (depth == 0) {
                const std::int64_t row = bag_.rows[parent_row];
                append(to, outputs_.columns, outputs_.values, outputs_.row_start[row],
                       outputs_.row_start[row + 1]);
            } else {
                const Rows& from = stack_[depth - 1];
                append(to, from.labels.data(), from.values.empty() ? nullptr : from.values.data(),
                       from.start[parent_row], from.start[parent_row] + from.n_labels[parent_row]);
            }
        }
    }

    bool pure(std::size_t depth, std::span<const std::uint32_t> node) const override {
        const Rows& rows = stack_[depth];
        const auto same = [&](const auto& array, std::uint32_t a, std::uint32_t b) {
            return std::equal(array.begin() + rows.start[a], array.begin() + rows.start[a + 1],
                              array.begin() + rows.start[b], array.begin() + rows.start[b + 1]);
        };
        return std::all_of(node.begin() + 1, node.end(), [&](std::uint32_t row) {
            return same(rows.labels, node.front(), row) &&
                   (!outputs_.values || same(rows.values, node.front(), row));
        });
    }

    // The larger child of the last node has its totals already, see close; others are summed up.
    void open(std::size_t depth, const Level& level, Range node, std::size_t slot) override {
        rows_ = &stack_[depth];
        weights_ = level.weight.data();
        if (slot == no_slot || slot != summed_slot_) sum_rows(level, node);
        summed_slot_ = no_slot;
        dense_width_ = 0;
        if (reads_often_) prepare_rows(level, node);
    }

    double weight() const override { return weight_; }

    double score() const override { return squares_ / weight_; }

    Cut scan(const Scan& scan, const Limits& limits, const Score& best) override {
        if (dense_width_ > 0) {
            const DenseNode node{dense_.data(), weights_, dense_total_, dense_width_, nullptr};
            return kernels().scan_float(scan, limits, node, best);
        }
        Cut cut{best, 0};
        double weight = 0;
        double side_squares = 0;   // |S_A|^2
        double side_by_total = 0;  // S . S_A
        const std::size_t most = limits.n_rows - limits.min_rows;
        const Entry* entries = scan.entries;
        std::size_t i = 0;
        for (; i < scan.n_entries; ++i) {
            const std::uint32_t row = entries[i].row;
            weight += weights_[row];
            const auto [squares, by_total] = add_to_side(row);
            side_squares += squares;
            side_by_total += by_total;

            const std::size_t taken = i + 1;
            if (taken < scan.n_prefix || (taken == scan.n_prefix && !scan.score_prefix)) continue;
            if (taken > scan.n_prefix && taken < scan.n_entries &&
                entries[taken].code == entries[i].code)
                continue;
            if (taken < limits.min_rows) continue;
            if (taken > most) break;
            const double other = limits.weight - weight;
            if (weight < limits.min_weight || other < limits.min_weight) continue;
            const double rest_squares = squares_ - 2 * side_by_total + side_squares;
            const Score score = Score::of(side_squares, weight, rest_squares, other);
            if (score > cut.score) cut = {score, taken};
        }
        const std::size_t n_added = std::min(i + 1, scan.n_entries);
        if (is_large(n_added))
            std::fill(side_.begin(), side_.end(), 0.0);
        else
            for (std::size_t j = 0; j < n_added; ++j)
                each_label(entries[j].row, [&](std::int32_t label, double) { side_[label] = 0; });
        return cut;
    }

    // The larger child is grown next, so that the totals of the node can become its own.
    void close(const Level& level, Range smaller, std::size_t slot) override {
        for (const std::uint32_t row : smaller.rows(level)) {
            weight_ -= weights_[row];
            each_label(row, [&](std::int32_t label, double x) {
                squares_ -= x * (2 * total_[label] - x);
                total_[label] -= x;
            });
        }
        summed_slot_ = slot + 1;
        if (!outputs_.values && reads_often_)  // fewer labels may fit into a dense block
            n_seen_ = std::remove_if(seen_.begin(), seen_.begin() + n_seen_,
                                     [&](std::int32_t label) { return total_[label] == 0; }) -
                      seen_.begin();
    }

  private:
    struct Rows {  // of one level, side by side
        std::vector<std::uint64_t> start;
        std::vector<std::uint32_t> n_labels;
        std::vector<std::int32_t> labels;  // padded
        std::vector<float> values;         // empty where every value is 1
    };
    void sum_rows(const Level& level, Range node) {
        for (std::size_t i = 0; i < n_seen_; ++i) total_[seen_[i]] = 0;
        n_seen_ = 0;
        weight_ = total_weight(level, node);
        for (const std::uint32_t row : node.rows(level)) {
            const std::size_t room = n_seen_ + rows_->n_labels[row] + 1;
            if (seen_.size() < room) seen_.resize(2 * room);
            each_label(row, [&](std::int32_t label, double x) {
                // Written first and kept by counting: whether a label is new is hard to predict.
                seen_[n_seen_] = label;
                n_seen_ += total_[label] == 0;
                total_[label] += x;
            });
        }
        if (outputs_.values) {  // sums that came back to zero were counted as new again
            std::sort(seen_.begin(), seen_.begin() + n_seen_);
            n_seen_ = std::unique(seen_.begin(), seen_.begin() + n_seen_) - seen_.begin();
        }
        squares_ = 0;
        for (std::size_t i = 0; i < n_seen_; ++i) {
            const double total = total_[seen_[i]];
            squares_ += total * total;
        }
    }

    // Where the search reads rows often, work on the rows pays. A few labels become a
    // dense block of outputs; else each row gets its part of S.S_A, which no scan changes.
    void prepare_rows(const Level& level, Range node) {
        if (n_seen_ <= most_dense && n_seen_ > 0) {
            dense_width_ = (n_seen_ + 7) / 8 * 8;
            if (dense_.size() < level.row.size() * dense_width_)
                dense_.resize(level.row.size() * dense_width_);
            if (place_.empty()) place_.resize(outputs_.n_columns);
            std::fill_n(dense_total_, dense_width_, 0.0);
            for (std::size_t i = 0; i < n_seen_; ++i) {
                place_[seen_[i]] = static_cast<std::uint32_t>(i);
                dense_total_[i] = total_[seen_[i]];
            }
            for (const std::uint32_t row : node.rows(level)) {
                float* outputs = dense_.data() + row * dense_width_;
                std::fill_n(outputs, dense_width_, 0.0f);
                const std::uint64_t start = rows_->start[row];
                for (std::uint64_t at = start; at < start + rows_->n_labels[row]; ++at)
                    outputs[place_[rows_->labels[at]]] = outputs_.values ? rows_->values[at] : 1.0f;
            }
            return;
        }
        if (by_total_.size() < level.row.size()) by_total_.resize(level.row.size());
        for (const std::uint32_t row : node.rows(level)) {
            double by_total = 0;
            each_label(row, [&](std::int32_t label, double x) { by_total += x * total_[label]; });
            by_total_[row] = by_total;
        }
    }

    // Whether so many rows have about as many labels as there are outputs.
    bool is_large(std::size_t n_rows) const {
        return n_rows * rows_->labels.size() >= side_.size() * (rows_->start.size() - 1);
    }

    // Adds a row to side A; the changes of |S_A|^2 and S.S_A. A row's labels are distinct, so that
    // they can be read before any is written, and two sums at a time keep the adder busy.
    std::pair<double, double> add_to_side(std::uint32_t row) {
        if (outputs_.values) {
            double squares = 0, by_total = 0;
            each_label(row, [&](std::int32_t label, double x) {
                squares += x * (2 * side_[label] + x);
                by_total += x * total_[label];
                side_[label] += x;
            });
            return {squares, by_total};
        }
        const std::int32_t* labels = rows_->labels.data() + rows_->start[row];
        const std::size_t n = rows_->n_labels[row];
        const double weight = weights_[row];
        const double own_squares = static_cast<double>(n) * weight * weight;
        double* const side = side_.data();
        if (reads_often_) {
            double before = 0;
            for (std::size_t i = 0; i < n; i += 4) {
                double* const at[4] = {side + labels[i], side + labels[i + 1], side + labels[i + 2],
                                       side + labels[i + 3]};
                const double value[4] = {*at[0], *at[1], *at[2], *at[3]};
                before += (value[0] + value[1]) + (value[2] + value[3]);
                for (int j = 0; j < 4; ++j) *at[j] = value[j] + weight;
            }
            side_.back() = 0;
            return {2 * weight * before + own_squares, by_total_[row]};
        }
        double before[2]{}, total[2]{};
        std::size_t i = 0;
        for (; i + 1 < n; i += 2) {
            const double first = side[labels[i]], second = side[labels[i + 1]];
            before[0] += first;
            before[1] += second;
            total[0] += total_[labels[i]];
            total[1] += total_[labels[i + 1]];
            side[labels[i]] = first + weight;
            side[labels[i + 1]] = second + weight;
        }
        if (i < n) {
            before[0] += side[labels[i]];
            total[0] += total_[labels[i]];
            side[labels[i]] += weight;
        }
        return {2 * weight * (before[0] + before[1]) + own_squares, weight * (total[0] + total[1])};
    }

    // Lists of labels are padded with the label that is nobody's, so that they can be read four at
    // a time: how many there are is hard to predict.
    void append(Rows& to, const std::int32_t* labels, const float* values, std::int64_t begin,
                std::int64_t end) const {
        to.labels.insert(to.labels.end(), labels + begin, labels + end);
        to.n_labels.push_back(static_cast<std::uint32_t>(end - begin));
        to.labels.resize((to.labels.size() + padding_ - 1) / padding_ * padding_,
                         static_cast<std::int32_t>(outputs_.n_columns));
        if (values) to.values.insert(to.values.end(), values + begin, values + end);
        to.start.push_back(to.labels.size());
    }

    template <class Visit>
    void each_label(std::uint32_t row, Visit visit) {
        const std::uint64_t begin = rows_->start[row], end = begin + rows_->n_labels[row];
        const std::int32_t* labels = rows_->labels.data();
        const double weight = weights_[row];
        if (outputs_.values) {
            const float* values = rows_->values.data();
            for (std::uint64_t at = begin; at < end; ++at) visit(labels[at], weight * values[at]);
        } else {
            for (std::uint64_t at = begin; at < end; ++at) visit(labels[at], weight);
        }
    }

    SparseRows outputs_;
    Bag bag_;
    bool reads_often_;
    std::size_t padding_;
    std::vector<Rows> stack_;
    std::vector<double> side_;        // S_A; zero between scans
    std::vector<double> total_;       // S; zero but for
    std::vector<std::int32_t> seen_;  // the first n_seen_ of these labels
    std::size_t n_seen_ = 0;
    std::size_t summed_slot_ = no_slot;  // of the node that `total_` is of, before it is opened

    static constexpr std::size_t most_dense = 32;
    std::size_t dense_width_ = 0;  // of the dense block; 0: none
    AlignedVector<float> dense_;   // the outputs of the node's rows, in the places of their labels
    std::vector<std::uint32_t> place_;
    double dense_total_[most_dense];
    std::vector<double> by_total_;  // of each row
    double squares_ = 0;            // |S|^2
    double weight_ = 0;
    const Rows* rows_ = nullptr;
    const double* weights_ = nullptr;
};

}  // namespace

std::unique_ptr<Target> make_sparse_target(const SparseRows& outputs, const Bag& bag,
                                           bool reads_often) {
    return std::make_unique<SparseTarget>(outputs, bag, reads_often);
}

}  // namespace sketchforest
