#include <algorithm>
#include <numeric>
#include <utility>

#include "aligned.hpp"
#include "count_rows.hpp"
#include "criterion.hpp"
#include "label_lists.hpp"

namespace sketchforest {
namespace {

// Outputs of which most are zero: adding a row to a side changes |S_A|^2 and S.S_A by terms of the
// row's own labels alone, so a row costs its labels and not the number of outputs.
class SparseCriterion final : public SplitCriterion {
  public:
    SparseCriterion(const SparseRows& outputs, const Bag& bag, bool reads_often, bool random_cuts)
        : outputs_(outputs),
          bag_(bag),
          reads_often_(reads_often),
          // Of random cuts only one of a feature is scored, and not its prefix.
          may_count_(reads_often && !random_cuts && !outputs.values),
          counts_(bag.weights),
          padding_(padding(outputs, bag, reads_often)),
          side_(outputs.n_columns + 1),  // the last one is of padding
          total_(outputs.n_columns) {}

    void enter(std::size_t depth, std::span<const std::uint32_t> parent_rows) override {
        if (stack_.size() <= depth) stack_.resize(depth + 1);
        LabelLists& to = stack_[depth];
        to.clear();
        const std::size_t no_label = outputs_.n_columns;
        for (const std::uint32_t parent_row : parent_rows) {
            if (depth == 0) {
                const std::int64_t row = bag_.rows[parent_row];
                to.append(outputs_.columns, outputs_.values, outputs_.row_start[row],
                          outputs_.row_start[row + 1], padding_, no_label);
            } else {
                const LabelLists& from = stack_[depth - 1];
                const float* values = from.values.empty() ? nullptr : from.values.data();
                const auto begin = static_cast<std::int64_t>(from.start[parent_row]);
                to.append(from.labels.data(), values, begin, begin + from.n_labels[parent_row],
                          padding_, no_label);
            }
        }
    }

    bool pure(std::size_t depth, std::span<const std::uint32_t> node) const override {
        const LabelLists& rows = stack_[depth];
        return std::all_of(node.begin() + 1, node.end(),
                           [&](std::uint32_t row) { return rows.are_equal(node.front(), row); });
    }

    // The heavier child of the last node has its totals already, see close; others are summed up.
    void open(std::size_t depth, const RowSubset& subset, Range node, std::size_t slot) override {
        rows_ = &stack_[depth];
        weights_ = subset.weight.data();
        if (slot == no_slot || slot != summed_slot_) sum_rows(subset, node);
        summed_slot_ = no_slot;
        dense_width_ = 0;
        is_counted_ = false;
        if (reads_often_) prepare_rows(subset, node);
    }

    double weight() const override { return weight_; }

    double score() const override { return squares_ / weight_; }

    SplitPoint scan(const Scan& scan, const Limits& limits, const Score& best) override {
        if (is_counted_) return kernels().scan_counts(scan, limits, counts_.node(squares_), best);
        if (dense_width_ > 0) return kernels().scan_float(scan, limits, dense_node(), best);
        if (reads_often_ && scan.n_prefix == 0 && scan.n_entries == limits.n_rows)
            return scan_all(scan, limits, best);
        SplitPoint cut{best, 0, 0};
        double weight = 0;
        double side_squares = 0;   // |S_A|^2
        double side_by_total = 0;  // S . S_A
        const std::size_t most = limits.n_rows - limits.min_rows;
        const Entry* entries = scan.entries;
        std::size_t i = 0;
        for (; i < scan.n_entries; ++i) {
            const std::uint32_t row = entries[i].row;
            weight += weights_[row];
            const auto [squares, by_total] = join_side(row);
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
            if (score > cut.score) cut = {score, taken, weight};
        }
        clear_side({entries, std::min(i + 1, scan.n_entries)});
        return cut;
    }

    DenseNode dense_node() override {
        if (dense_width_ == 0) return {};
        return {dense_.data(), false, weights_, dense_total_, dense_width_, nullptr};
    }

    bool fill(SmallNode& to, const RowSubset& subset, Range node) override {
        if (dense_width_ == 0 || n_seen_ > most_components) return false;
        small_.fill(dense_.data(), dense_width_, subset, node, n_seen_);
        to.z = small_.z;
        to.weights = small_.weights;
        to.total = dense_total_;
        to.n_components = n_seen_;
        return true;
    }

    // The heavier child is grown next, so that the totals of the node can become its own.
    void close(const RowSubset& subset, Range lighter, double weight, std::size_t slot) override {
        for (const std::uint32_t row : lighter.rows(subset))
            each_label(row, [&](std::int32_t label, double x) {
                squares_ -= x * (2 * total_[label] - x);
                total_[label] -= x;
            });
        weight_ -= weight;
        summed_slot_ = slot + 1;
        if (!outputs_.values && reads_often_)  // fewer labels may fit into a dense block
            n_seen_ = std::remove_if(seen_.begin(), seen_.begin() + n_seen_,
                                     [&](std::int32_t label) { return total_[label] == 0; }) -
                      seen_.begin();
    }

  private:
    static std::size_t padding(const SparseRows& outputs, const Bag& bag, bool reads_often) {
        if (!reads_often || outputs.values) return 1;
        std::int64_t n_labels = 0;
        for (const std::int64_t row : bag.rows)
            n_labels += outputs.row_start[row + 1] - outputs.row_start[row];
        return n_labels <= 3 * static_cast<std::int64_t>(bag.rows.size()) ? 4 : 8;
    }

    // What a scan reads of a row, in one cache line.
    struct alignas(64) RowLine {
        static constexpr std::size_t most_columns = 0xffff;
        static constexpr std::size_t most_labels = 16;
        RowTerms terms;
        std::uint16_t n_labels;  // 0: there are none, or they are elsewhere
        std::uint16_t labels[most_labels];
    };

    void sum_rows(const RowSubset& subset, Range node) {
        for (std::size_t i = 0; i < n_seen_; ++i) total_[seen_[i]] = 0;
        n_seen_ = 0;
        weight_ = total_weight(subset, node);
        for (const std::uint32_t row : node.rows(subset)) {
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

    // Where the search reads rows often, work on the rows pays. A few labels become a dense block
    // of numbers; else each row gets its part of S.S_A, which no scan changes.
    void prepare_rows(const RowSubset& subset, Range node) {
        // All cuts of a small node are searched at once, in a block.
        const bool is_small = node.size() <= most_small && n_seen_ <= most_components;
        if (n_seen_ == 0)
            prepare_lines(subset, node);
        else if (may_count_ && !is_small && counts_.suit(n_seen_, weight_, subset.row.size()))
            count_rows(subset, node);
        else if (n_seen_ <= most_dense)
            prepare_block(subset, node);
        else
            prepare_lines(subset, node);
    }

    // Numbers the labels of the node.
    void place_seen() {
        if (place_.empty()) place_.resize(outputs_.n_columns);
        for (std::size_t i = 0; i < n_seen_; ++i) place_[seen_[i]] = static_cast<std::uint32_t>(i);
    }

    void count_rows(const RowSubset& subset, Range node) {
        is_counted_ = true;
        place_seen();
        counts_.fill(subset, node, n_seen_, place_.data(), total_.data(), [&](std::uint32_t row) {
            return std::span(rows_->labels.data() + rows_->start[row], rows_->n_labels[row]);
        });
    }

    void prepare_block(const RowSubset& subset, Range node) {
        dense_width_ = (n_seen_ + 7) / 8 * 8;
        if (dense_.size() < subset.row.size() * dense_width_)
            dense_.resize(subset.row.size() * dense_width_);
        place_seen();
        std::fill_n(dense_total_, dense_width_, 0.0);
        for (std::size_t i = 0; i < n_seen_; ++i) dense_total_[i] = total_[seen_[i]];
        for (const std::uint32_t row : node.rows(subset)) {
            float* outputs = dense_.data() + row * dense_width_;
            std::fill_n(outputs, dense_width_, 0.0f);
            const std::uint64_t start = rows_->start[row];
            for (std::uint64_t at = start; at < start + rows_->n_labels[row]; ++at)
                outputs[place_[rows_->labels[at]]] = outputs_.values ? rows_->values[at] : 1.0f;
        }
    }

    void prepare_lines(const RowSubset& subset, Range node) {
        if (lines_.size() < subset.row.size()) lines_.resize(subset.row.size());
        for (const std::uint32_t row : node.rows(subset)) {
            double squares = 0, by_total = 0;
            each_label(row, [&](std::int32_t label, double x) {
                squares += x * x;
                by_total += x * total_[label];
            });
            RowLine& line = lines_[row];
            line.terms = {squares, by_total, weights_[row]};
            line.n_labels = 0;
            const std::size_t n = rows_->start[row + 1] - rows_->start[row];  // padding included
            if (outputs_.n_columns > RowLine::most_columns || n > RowLine::most_labels) continue;
            line.n_labels = static_cast<std::uint16_t>(rows_->n_labels[row]);
            std::copy_n(rows_->labels.data() + rows_->start[row], n, line.labels);
        }
    }

    // Many cuts: first what they are made of, one after the other, then their scores, side by side.
    SplitPoint scan_all(const Scan& scan, const Limits& limits, const Score& best) {
        SplitPoint cut{best, 0, 0};
        double squares = 0, by_total = 0, weight = 0;
        // Side B gets min_rows rows.
        const std::size_t n = std::min(scan.n_entries, limits.n_rows - limits.min_rows);
        const std::size_t last = scan.n_entries - 1;
        constexpr std::size_t ahead = 12;
        for (std::size_t first = 0; first < n; first += CutTerms::capacity) {
            const std::size_t size = std::min(n - first, CutTerms::capacity);
            for (std::size_t i = 0; i < size; ++i) {
                const std::uint32_t row = scan.entries[first + i].row;
                // Rows lie far apart in a large node, so the next ones are prefetched.
                __builtin_prefetch(lines_.data() +
                                   scan.entries[std::min(first + i + ahead, last)].row);
                const RowTerms& terms = lines_[row].terms;
                squares += add_to_side(row) + terms.squares;
                by_total += terms.by_total;
                weight += terms.weight;
                chunk_.squares[i] = is_cut(scan, limits, first + i) ? squares : CutTerms::no_cut;
                chunk_.by_total[i] = by_total;
                chunk_.weights[i] = weight;
            }
            kernels().choose_cut(chunk_, size, first + 1, squares_, limits, cut);
        }
        clear_side({scan.entries, n});
        return cut;
    }

    void clear_side(std::span<const Entry> entries) {
        if (is_large(entries.size()))
            std::fill(side_.begin(), side_.end(), 0.0);
        else
            for (const Entry& entry : entries)
                each_label(entry.row, [&](std::int32_t label, double) { side_[label] = 0; });
    }

    // Whether this many rows have about as many labels as there are outputs.
    bool is_large(std::size_t n_rows) const {
        return n_rows * rows_->labels.size() >= side_.size() * (rows_->start.size() - 1);
    }

    // Adds a row to side A; 2 S_A . wz, of S_A before. A row's labels are distinct, so that several
    // can be read before any is written.
    double add_to_side(std::uint32_t row) {
        double before = 0;
        if (outputs_.values) {
            each_label(row, [&](std::int32_t label, double x) {
                before += x * side_[label];
                side_[label] += x;
            });
            return 2 * before;
        }
        const RowLine& line = lines_[row];
        const double weight = line.terms.weight;
        before = line.n_labels > 0 ? add_labels(line.labels, line.n_labels, weight)
                                   : add_labels(rows_->labels.data() + rows_->start[row],
                                                rows_->n_labels[row], weight);
        side_.back() = 0;  // of padding
        return 2 * weight * before;
    }

    template <class Label>
    double add_labels(const Label* labels, std::size_t n, double weight) {
        return padding_ == 4 ? add_padded<4>(labels, n, weight) : add_padded<8>(labels, n, weight);
    }

    template <int Padding, class Label>
    double add_padded(const Label* labels, std::size_t n, double weight) {
        double* const side = side_.data();
        double before = 0;
        for (std::size_t i = 0; i < n; i += Padding) {
            double value[Padding];
            for (int j = 0; j < Padding; ++j) value[j] = side[labels[i + j]];
            for (int j = 0; j < Padding; j += 4)
                before += (value[j] + value[j + 1]) + (value[j + 2] + value[j + 3]);
            for (int j = 0; j < Padding; ++j) side[labels[i + j]] = value[j] + weight;
        }
        return before;
    }

    // Adds a row to side A; the changes of |S_A|^2 and S.S_A.
    std::pair<double, double> join_side(std::uint32_t row) {
        if (reads_often_) {
            const RowTerms& terms = lines_[row].terms;
            return {add_to_side(row) + terms.squares, terms.by_total};
        }
        double squares = 0, by_total = 0;
        if (outputs_.values) {
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
        double* const side = side_.data();
        // Two sums at a time keep the adder busy.
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
        return {2 * weight * (before[0] + before[1]) + static_cast<double>(n) * weight * weight,
                weight * (total[0] + total[1])};
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
    bool may_count_;
    bool is_counted_ = false;  // the open node
    CountRows counts_;
    std::size_t padding_;
    std::vector<LabelLists> stack_;
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
    SmallOutputs small_;
    AlignedVector<RowLine> lines_;  // of each row
    CutTerms chunk_;
    double squares_ = 0;  // |S|^2
    double weight_ = 0;
    const LabelLists* rows_ = nullptr;
    const double* weights_ = nullptr;
};

}  // namespace

std::unique_ptr<SplitCriterion> make_sparse_criterion(const SparseRows& outputs, const Bag& bag,
                                                      bool reads_often, bool random_cuts) {
    return std::make_unique<SparseCriterion>(outputs, bag, reads_often, random_cuts);
}

}  // namespace sketchforest
