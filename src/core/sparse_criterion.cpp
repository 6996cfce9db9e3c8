#include <algorithm>
#include <numeric>
#include <utility>

#include "count_rows.hpp"
#include "criterion.hpp"
#include "sparse_side.hpp"

namespace sketchforest {
namespace {

// Outputs of which most are zero: adding a row to a side changes |S_A|^2 and S.S_A by terms of the
// row's own labels alone, so a row costs its labels and not the number of outputs.
class SparseCriterion final : public SplitCriterion {
  public:
    SparseCriterion(const SparseRows& outputs, const Bag& bag, bool reads_often, bool random_cuts)
        : outputs_(outputs),
          bag_(bag),
          // Of random cuts only one of a feature is scored, and not its prefix.
          may_count_(reads_often && !random_cuts && !outputs.values),
          counts_(bag.weights),
          side_(outputs.n_columns) {
        node_.total.resize(outputs.n_columns);
        node_.reads_often = reads_often;
        node_.has_values = outputs.values;
        node_.padding = padding(outputs, bag, reads_often);
    }

    void enter(std::size_t depth, std::span<const std::uint32_t> parent_rows) override {
        if (stack_.size() <= depth) stack_.resize(depth + 1);
        LabelLists& to = stack_[depth];
        to.clear();
        const std::size_t no_label = outputs_.n_columns;
        for (const std::uint32_t parent_row : parent_rows) {
            if (depth == 0) {
                const std::int64_t row = bag_.rows[parent_row];
                to.append(outputs_.columns, outputs_.values, outputs_.row_start[row],
                          outputs_.row_start[row + 1], node_.padding, no_label);
            } else {
                const LabelLists& from = stack_[depth - 1];
                const float* values = from.values.empty() ? nullptr : from.values.data();
                const auto begin = static_cast<std::int64_t>(from.start[parent_row]);
                to.append(from.labels.data(), values, begin, begin + from.n_labels[parent_row],
                          node_.padding, no_label);
            }
        }
    }

    bool pure(std::size_t depth, std::span<const std::uint32_t> node) const override {
        const LabelLists& rows = stack_[depth];
        return std::all_of(node.begin() + 1, node.end(),
                           [&](std::uint32_t row) { return rows.are_equal(node.front(), row); });
    }

    // The heavier child of the last node has its totals already, see close; others are summed up.
    void open(std::size_t depth, const RowSubset& subset, Range node, std::size_t slot,
              const Pieces& pieces) override {
        node_.rows = &stack_[depth];
        node_.weights = subset.weight.data();
        if (slot == no_slot || slot != summed_slot_) sum_rows(subset, node);
        summed_slot_ = no_slot;
        dense_width_ = 0;
        is_counted_ = false;
        if (node_.reads_often) prepare_rows(subset, node, pieces);
    }

    double weight() const override { return weight_; }

    double score() const override { return node_.squares / weight_; }

    SplitPoint scan(const Scan& scan, const Limits& limits, const Score& best) override {
        return scan_with(side_, scan, limits, best);
    }

    std::unique_ptr<Scanner> another_scanner() const override {
        return std::make_unique<OtherScanner>(*this);
    }

    DenseNode dense_node() override { return dense_width_ == 0 ? DenseNode{} : dense_block(); }

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
            node_.each_label(row, [&](std::int32_t label, double x) {
                node_.squares -= x * (2 * node_.total[label] - x);
                node_.total[label] -= x;
            });
        weight_ -= weight;
        summed_slot_ = slot + 1;
        if (!outputs_.values && node_.reads_often)  // fewer labels may fit into a dense block
            n_seen_ = std::remove_if(seen_.begin(), seen_.begin() + n_seen_,
                                     [&](std::int32_t label) { return node_.total[label] == 0; }) -
                      seen_.begin();
    }

  private:
    class OtherScanner final : public Scanner {
      public:
        explicit OtherScanner(const SparseCriterion& of) : of_(of), side_(of.outputs_.n_columns) {}

        SplitPoint scan(const Scan& scan, const Limits& limits, const Score& best) override {
            return of_.scan_with(side_, scan, limits, best);
        }

      private:
        const SparseCriterion& of_;
        SparseSide side_;
    };

    SplitPoint scan_with(SparseSide& side, const Scan& scan, const Limits& limits,
                         const Score& best) const {
        if (is_counted_)
            return kernels().scan_counts(scan, limits, counts_.node(node_.squares), best);
        if (dense_width_ > 0) return kernels().scan_float(scan, limits, dense_block(), best);
        return side.scan(node_, scan, limits, best);
    }

    DenseNode dense_block() const {
        return {dense_.data(), false, node_.weights, dense_total_, dense_width_, nullptr};
    }

    static std::size_t padding(const SparseRows& outputs, const Bag& bag, bool reads_often) {
        if (!reads_often || outputs.values) return 1;
        std::int64_t n_labels = 0;
        for (const std::int64_t row : bag.rows)
            n_labels += outputs.row_start[row + 1] - outputs.row_start[row];
        return n_labels <= 3 * static_cast<std::int64_t>(bag.rows.size()) ? 4 : 8;
    }

    void sum_rows(const RowSubset& subset, Range node) {
        for (std::size_t i = 0; i < n_seen_; ++i) node_.total[seen_[i]] = 0;
        n_seen_ = 0;
        weight_ = total_weight(subset, node);
        for (const std::uint32_t row : node.rows(subset)) {
            const std::size_t room = n_seen_ + node_.rows->n_labels[row] + 1;
            if (seen_.size() < room) seen_.resize(2 * room);
            node_.each_label(row, [&](std::int32_t label, double x) {
                // Written first and kept by counting: whether a label is new is hard to predict.
                seen_[n_seen_] = label;
                n_seen_ += node_.total[label] == 0;
                node_.total[label] += x;
            });
        }
        if (outputs_.values) {  // sums that came back to zero were counted as new again
            std::sort(seen_.begin(), seen_.begin() + n_seen_);
            n_seen_ = std::unique(seen_.begin(), seen_.begin() + n_seen_) - seen_.begin();
        }
        node_.squares = 0;
        for (std::size_t i = 0; i < n_seen_; ++i) {
            const double total = node_.total[seen_[i]];
            node_.squares += total * total;
        }
    }

    // Where the search reads rows often, work on the rows pays. A few labels become a dense block
    // of numbers; else each row gets its part of S.S_A, which no scan changes.
    void prepare_rows(const RowSubset& subset, Range node, const Pieces& pieces) {
        // All cuts of a small node are searched at once, in a block.
        const bool is_small = node.size() <= most_small && n_seen_ <= most_components;
        if (n_seen_ == 0)
            prepare_lines(subset, node, pieces);
        else if (may_count_ && !is_small && counts_.suit(n_seen_, weight_, subset.row.size()))
            count_rows(subset, node);
        else if (n_seen_ <= most_dense)
            prepare_block(subset, node, pieces);
        else
            prepare_lines(subset, node, pieces);
    }

    // Numbers the labels of the node.
    void place_seen() {
        if (place_.empty()) place_.resize(outputs_.n_columns);
        for (std::size_t i = 0; i < n_seen_; ++i) place_[seen_[i]] = static_cast<std::uint32_t>(i);
    }

    void count_rows(const RowSubset& subset, Range node) {
        is_counted_ = true;
        place_seen();
        const LabelLists& rows = *node_.rows;
        counts_.fill(subset, node, n_seen_, place_.data(), node_.total.data(),
                     [&](std::uint32_t row) {
                         return std::span(rows.labels.data() + rows.start[row], rows.n_labels[row]);
                     });
    }

    void prepare_block(const RowSubset& subset, Range node, const Pieces& pieces) {
        dense_width_ = (n_seen_ + 7) / 8 * 8;
        if (dense_.size() < subset.row.size() * dense_width_)
            dense_.resize(subset.row.size() * dense_width_);
        const LabelLists& lists = *node_.rows;
        place_seen();
        std::fill_n(dense_total_, dense_width_, 0.0);
        for (std::size_t i = 0; i < n_seen_; ++i) dense_total_[i] = node_.total[seen_[i]];
        each_row(subset, node, pieces, [&](std::uint32_t row) {
            float* outputs = dense_.data() + row * dense_width_;
            std::fill_n(outputs, dense_width_, 0.0f);
            const std::uint64_t start = lists.start[row];
            for (std::uint64_t at = start; at < start + lists.n_labels[row]; ++at)
                outputs[place_[lists.labels[at]]] = outputs_.values ? lists.values[at] : 1.0f;
        });
    }

    void prepare_lines(const RowSubset& subset, Range node, const Pieces& pieces) {
        const LabelLists& lists = *node_.rows;
        if (node_.lines.size() < subset.row.size()) node_.lines.resize(subset.row.size());
        each_row(subset, node, pieces, [&](std::uint32_t row) {
            double squares = 0, by_total = 0;
            node_.each_label(row, [&](std::int32_t label, double x) {
                squares += x * x;
                by_total += x * node_.total[label];
            });
            RowLine& line = node_.lines[row];
            line.terms = {squares, by_total, node_.weights[row]};
            line.n_labels = 0;
            const std::size_t n = lists.start[row + 1] - lists.start[row];  // padding included
            if (outputs_.n_columns > RowLine::most_columns || n > RowLine::most_labels) return;
            line.n_labels = static_cast<std::uint16_t>(lists.n_labels[row]);
            std::copy_n(lists.labels.data() + lists.start[row], n, line.labels);
        });
    }

    template <class Work>
    static void each_row(const RowSubset& subset, Range node, const Pieces& pieces, Work work) {
        const auto rows = node.rows(subset);
        pieces.each([&](std::size_t, std::size_t begin, std::size_t end) {
            for (const std::uint32_t row : rows.subspan(begin, end - begin)) work(row);
        });
    }

    SparseRows outputs_;
    Bag bag_;
    bool may_count_;
    bool is_counted_ = false;  // the open node
    CountRows counts_;
    std::vector<LabelLists> stack_;
    SparseSide side_;
    SparseNode node_;                 // the open one; its total is zero but for
    std::vector<std::int32_t> seen_;  // the first n_seen_ of these labels
    std::size_t n_seen_ = 0;
    std::size_t summed_slot_ = no_slot;  // of the node that the total is of, before it is opened

    static constexpr std::size_t most_dense = 32;
    std::size_t dense_width_ = 0;  // of the dense block; 0: none
    AlignedVector<float> dense_;   // the outputs of the node's rows, in the places of their labels
    std::vector<std::uint32_t> place_;
    double dense_total_[most_dense];
    SmallOutputs small_;
    double weight_ = 0;
};

}  // namespace

std::unique_ptr<SplitCriterion> make_sparse_criterion(const SparseRows& outputs, const Bag& bag,
                                                      bool reads_often, bool random_cuts) {
    return std::make_unique<SparseCriterion>(outputs, bag, reads_often, random_cuts);
}

}  // namespace sketchforest
