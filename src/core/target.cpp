#include "target.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace sketchforest {
namespace {

double total_weight(const Level& level, Range node) {
    double weight = 0;
    for (const std::uint32_t row : node.rows(level)) weight += level.weight[row];
    return weight;
}

template <class T>
struct Aligned {  // for vector loads of whole cache lines
    using value_type = T;
    Aligned() = default;
    template <class U>
    Aligned(const Aligned<U>&) {}
    T* allocate(std::size_t n) {
        return static_cast<T*>(::operator new(n * sizeof(T), std::align_val_t{64}));
    }
    void deallocate(T* at, std::size_t) { ::operator delete(at, std::align_val_t{64}); }
    bool operator==(const Aligned&) const { return true; }
};
template <class T>
using AlignedVector = std::vector<T, Aligned<T>>;

template <class T>
class DenseTarget final : public Target {
  public:
    explicit DenseTarget(const Outputs& outputs)
        : stride_(outputs.stride),
          bag_(static_cast<const T*>(outputs.z)),
          total_(stride_),
          part_(stride_),
          scratch_(stride_) {}

    void enter(std::size_t depth, std::span<const std::uint32_t> parent_rows) override {
        if (depth == 0) return;  // the bag's rows are where they should be
        if (packed_.size() < depth) packed_.resize(depth);
        AlignedVector<T>& packed = packed_[depth - 1];
        const T* parent = rows(depth - 1);
        if (packed.size() < parent_rows.size() * stride_)
            packed.resize(parent_rows.size() * stride_);
        T* to = packed.data();
        for (const std::uint32_t row : parent_rows) {
            std::memcpy(to, parent + row * stride_, stride_ * sizeof(T));
            to += stride_;
        }
    }

    bool pure(std::size_t depth, std::span<const std::uint32_t> node) const override {
        const T* z = rows(depth);
        const T* first = z + node.front() * stride_;
        return std::all_of(node.begin() + 1, node.end(), [&](std::uint32_t row) {
            return std::equal(first, first + stride_, z + row * stride_);
        });
    }

    void open(std::size_t depth, const Level& level, Range node, std::size_t slot) override {
        z_ = rows(depth);
        weights_ = level.weight.data();
        if (slot == no_slot) {
            sum(node.rows(level), total_.data());
            weight_ = total_weight(level, node);
        } else {
            const double* kept = slots_.data() + slot * (stride_ + 1);
            std::copy_n(kept, stride_, total_.data());
            weight_ = kept[stride_];
        }
    }

    double weight() const override { return weight_; }

    double score() const override {
        double squares = 0;
        for (const double s : total_) squares += s * s;
        return squares / weight_;
    }

    Cut scan(const Scan& scan, const Limits& limits, double best) override {
        const DenseNode node{z_, weights_, total_.data(), stride_, scratch_.data()};
        if constexpr (std::is_same_v<T, float>)
            return kernels().scan_float(scan, limits, node, best);
        else
            return kernels().scan_double(scan, limits, node, best);
    }

    void close(const Level& level, Range left, Range right, std::size_t left_slot,
               std::size_t right_slot) override {
        if (left_slot == no_slot) return;
        const bool left_is_smaller = left.size() < right.size();
        const Range smaller = left_is_smaller ? left : right;
        sum(smaller.rows(level), part_.data());
        const double part_weight = total_weight(level, smaller);
        const std::size_t last = std::max(left_slot, right_slot);
        if (slots_.size() < (last + 1) * (stride_ + 1)) slots_.resize((last + 1) * (stride_ + 1));
        double* kept = slots_.data() + (left_is_smaller ? left_slot : right_slot) * (stride_ + 1);
        // The larger child is the node less its sibling, so it needs no pass over its rows.
        double* rest = slots_.data() + (left_is_smaller ? right_slot : left_slot) * (stride_ + 1);
        for (std::size_t j = 0; j < stride_; ++j) {
            kept[j] = part_[j];
            rest[j] = total_[j] - part_[j];
        }
        kept[stride_] = part_weight;
        rest[stride_] = weight_ - part_weight;
    }

  private:
    const T* rows(std::size_t depth) const { return depth ? packed_[depth - 1].data() : bag_; }

    void sum(std::span<const std::uint32_t> rows, double* total) const {
        if constexpr (std::is_same_v<T, float>)
            kernels().sum_float(z_, weights_, stride_, rows.data(), rows.size(), total);
        else
            kernels().sum_double(z_, weights_, stride_, rows.data(), rows.size(), total);
    }

    std::size_t stride_;
    const T* bag_;
    std::vector<AlignedVector<T>> packed_;
    std::vector<double> slots_;
    AlignedVector<double> total_, part_, scratch_;
    double weight_ = 0;
    const T* z_ = nullptr;
    const double* weights_ = nullptr;
};

// Outputs of which most are zero: adding a row to a side changes |S_A|^2 and S.S_A by terms of the
// row's own labels alone, so a row costs its labels and not the number of outputs.
class SparseTarget final : public Target {
  public:
    SparseTarget(const SparseRows& outputs, const Bag& bag)
        : outputs_(outputs), bag_(bag), sums_(outputs.n_columns) {}

    void enter(std::size_t depth, std::span<const std::uint32_t> parent_rows) override {
        if (stack_.size() <= depth) stack_.resize(depth + 1);
        Rows& to = stack_[depth];
        to.start.assign(1, 0);
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
                       from.start[parent_row], from.start[parent_row + 1]);
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

    void open(std::size_t depth, const Level& level, Range node, std::size_t) override {
        for (const std::uint32_t label : seen_) sums_[label].total = 0;
        seen_.clear();
        rows_ = &stack_[depth];
        weights_ = level.weight.data();
        weight_ = total_weight(level, node);
        squares_ = 0;
        for (const std::uint32_t row : node.rows(level)) {
            each_label(row, [&](Sums& sums, double x, std::int32_t label) {
                if (sums.total == 0) seen_.push_back(label);
                squares_ += x * (2 * sums.total + x);
                sums.total += x;
            });
        }
    }

    double weight() const override { return weight_; }

    double score() const override { return squares_ / weight_; }

    Cut scan(const Scan& scan, const Limits& limits, double best) override {
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
            each_label(row, [&](Sums& sums, double x, std::int32_t) {
                side_squares += x * (2 * sums.side + x);
                side_by_total += x * sums.total;
                sums.side += x;
            });

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
            const double score = side_squares / weight + rest_squares / other;
            if (score > cut.score) cut = {score, taken};
        }
        const std::size_t n_added = std::min(i + 1, scan.n_entries);
        for (std::size_t j = 0; j < n_added; ++j)
            each_label(entries[j].row, [](Sums& sums, double, std::int32_t) { sums.side = 0; });
        return cut;
    }

    void close(const Level&, Range, Range, std::size_t, std::size_t) override {}

  private:
    struct Rows {  // of one level, side by side
        std::vector<std::uint64_t> start;
        std::vector<std::int32_t> labels;
        std::vector<float> values;  // empty where every value is 1
    };
    struct Sums {  // of one label; beside each other, since an update needs both
        double total = 0;
        double side = 0;
    };

    static void append(Rows& to, const std::int32_t* labels, const float* values,
                       std::int64_t begin, std::int64_t end) {
        to.labels.insert(to.labels.end(), labels + begin, labels + end);
        if (values) to.values.insert(to.values.end(), values + begin, values + end);
        to.start.push_back(to.labels.size());
    }

    template <class Visit>
    void each_label(std::uint32_t row, Visit visit) {
        const std::uint64_t begin = rows_->start[row], end = rows_->start[row + 1];
        const std::int32_t* labels = rows_->labels.data();
        const double weight = weights_[row];
        if (outputs_.values) {
            const float* values = rows_->values.data();
            for (std::uint64_t at = begin; at < end; ++at)
                visit(sums_[labels[at]], weight * values[at], labels[at]);
        } else {
            for (std::uint64_t at = begin; at < end; ++at)
                visit(sums_[labels[at]], weight, labels[at]);
        }
    }

    SparseRows outputs_;
    Bag bag_;
    std::vector<Rows> stack_;
    std::vector<Sums> sums_;
    std::vector<std::int32_t> seen_;  // labels whose total may not be zero
    double squares_ = 0;              // |S|^2
    double weight_ = 0;
    const Rows* rows_ = nullptr;
    const double* weights_ = nullptr;
};

}  // namespace

std::unique_ptr<Target> make_target(const Outputs& outputs, const Bag& bag) {
    if (!outputs.z) return std::make_unique<SparseTarget>(outputs.sparse, bag);
    if (outputs.wide) return std::make_unique<DenseTarget<double>>(outputs);
    return std::make_unique<DenseTarget<float>>(outputs);
}

}  // namespace sketchforest
