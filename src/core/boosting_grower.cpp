#include <algorithm>
#include <memory>
#include <numeric>
#include <queue>

#include "aligned.hpp"
#include "boosting.hpp"
#include "random.hpp"
#include "team.hpp"

namespace sketchforest {

namespace {

using Histogram = std::vector<double>;

struct Split {
    double gain = 0;  // 0: none
    std::uint32_t feature = 0, bin = 0;
    bool missing_left = false;
};

struct Leaf {
    std::uint32_t first, end;  // places in the order of the rows
    std::uint32_t depth;
    std::int32_t parent;  // -1: the root
    int side;
    std::vector<double> total;
    std::unique_ptr<Histogram> histogram;  // of a leaf that may be split
    Split split;

    std::uint32_t n_rows() const { return end - first; }
};

class Grower {
  public:
    Grower(const BinnedX& bins, const float* gradients, std::size_t stride,
           std::span<const std::uint32_t> rows, const BoostParams& params, std::size_t n_threads,
           Stop& stop)
        : bins_(bins),
          gradients_(gradients),
          stride_(stride),
          params_(params),
          stop_(stop),
          team_(n_threads),
          features_(bins.n_features),
          gathered_(rows.size() * stride),
          spare_(rows.size()) {
        tree_.rows.assign(rows.begin(), rows.end());
        std::iota(features_.begin(), features_.end(), 0u);
    }

    BoostTree grow() {
        make_root();
        while (!open_.empty() && (!params_.max_leaf_nodes || n_leaves() < params_.max_leaf_nodes)) {
            const std::uint32_t best = open_.top().second;
            open_.pop();
            if (stop_.requested(leaves_[best].n_rows())) return {};
            split(best);
        }
        finish();
        return std::move(tree_);
    }

  private:
    std::size_t n_leaves() const { return leaves_.size(); }

    void make_root() {
        Leaf root{0, static_cast<std::uint32_t>(tree_.rows.size()), 0, -1, 0, {}, {}, {}};
        root.total = sum(root);
        leaves_.push_back(std::move(root));
        if (!may_split(leaves_[0])) return;
        leaves_[0].histogram = new_histogram();
        search(leaves_[0], nullptr);
        open(0);
    }

    bool may_split(const Leaf& leaf) const {
        return leaf.depth < params_.max_depth &&
               leaf.n_rows() >= std::max(2u, 2 * params_.min_samples_leaf);
    }

    // Makes a node of a leaf: the left side keeps the number of the leaf, the right side is a new
    // one. The histogram of the larger side is that of the parent less that of the smaller side.
    void split(std::uint32_t number) {
        Leaf parent = std::move(leaves_[number]);
        const auto node = static_cast<std::int32_t>(tree_.nodes.size());
        if (parent.parent >= 0) tree_.nodes[parent.parent].child[parent.side] = node;
        const Split& cut = parent.split;
        const auto right_number = static_cast<std::uint32_t>(leaves_.size());
        tree_.nodes.push_back({static_cast<std::int32_t>(cut.feature),
                               static_cast<std::int32_t>(cut.bin),
                               cut.missing_left,
                               {-1 - static_cast<std::int32_t>(number),
                                -1 - static_cast<std::int32_t>(right_number)}});
        tree_.gains.push_back(cut.gain);
        const std::uint32_t middle = partition(parent);
        Leaf left{parent.first, middle, parent.depth + 1, node, 0, {}, {}, {}};
        Leaf right{middle, parent.end, parent.depth + 1, node, 1, {}, {}, {}};
        tree_.depth = std::max(tree_.depth, left.depth);
        Leaf& smaller = left.n_rows() <= right.n_rows() ? left : right;
        Leaf& larger = &smaller == &left ? right : left;
        smaller.total = sum(smaller);
        larger.total = parent.total;
        for (std::size_t i = 0; i < stride_; ++i) larger.total[i] -= smaller.total[i];
        const bool is_last = params_.max_leaf_nodes && n_leaves() + 1 >= params_.max_leaf_nodes;
        if (!is_last && (may_split(left) || may_split(right))) {
            smaller.histogram = new_histogram();
            larger.histogram = std::move(parent.histogram);
            search(smaller, &larger);
        } else {
            spare_histograms_.push_back(std::move(parent.histogram));
        }
        leaves_[number] = std::move(left);
        leaves_.push_back(std::move(right));
        open(number);
        open(right_number);
    }

    // The leaf joins those that may be split, or gives its histogram back.
    void open(std::uint32_t number) {
        Leaf& leaf = leaves_[number];
        if (leaf.split.gain > 0)
            open_.push({leaf.split.gain, number});
        else if (leaf.histogram)
            spare_histograms_.push_back(std::move(leaf.histogram));
    }

    std::unique_ptr<Histogram> new_histogram() {
        if (spare_histograms_.empty())
            return std::make_unique<Histogram>(bins_.bin_start[bins_.n_features] * stride_);
        auto found = std::move(spare_histograms_.back());
        spare_histograms_.pop_back();
        return found;
    }

    // Sums of all rows of a leaf, by chunks: few rows are added to a large sum.
    std::vector<double> sum(const Leaf& leaf) const {
        std::vector<double> total(stride_);
        for (std::uint32_t at = leaf.first; at < leaf.end; ++at) {
            const float* row = gradients_ + tree_.rows[at] * stride_;
            for (std::size_t i = 0; i < stride_; ++i) total[i] += row[i];
        }
        return total;
    }

    // The histogram of a leaf and, by subtraction, of its sibling, and the best splits of both.
    void search(Leaf& leaf, Leaf* sibling) {
        const std::uint32_t* rows = tree_.rows.data() + leaf.first;
        for (std::uint32_t i = 0; i < leaf.n_rows(); ++i)
            std::copy_n(gradients_ + rows[i] * stride_, stride_, gathered_.data() + i * stride_);
        const GradientRows node{rows, leaf.n_rows(), gathered_.data(), stride_};
        if (bins_.is_sparse()) {
            std::fill(leaf.histogram->begin(), leaf.histogram->end(), 0.0);
            kernels().add_to_places(node, bins_.row_start, bins_.places, leaf.histogram->data());
        }
        const auto wanted = [&](const Leaf* one) { return one && may_split(*one); };
        std::vector<std::uint32_t> of_leaf, of_sibling;
        if (wanted(&leaf)) of_leaf = sampled(leaf);
        if (wanted(sibling)) of_sibling = sampled(*sibling);
        std::vector<Split> splits(bins_.n_features), sibling_splits(bins_.n_features);
        const auto is_in = [](const std::vector<std::uint32_t>& features, std::uint32_t feature) {
            return std::binary_search(features.begin(), features.end(), feature);
        };
        const auto work_on = [&](std::size_t block) {
            const auto [first, end] = features_of(block);
            for (std::uint32_t feature = first; feature < end; ++feature) {
                fill(node, leaf, feature);
                if (sibling) subtract(leaf, *sibling, feature);
                if (is_in(of_leaf, feature)) splits[feature] = best_split(leaf, feature);
                if (is_in(of_sibling, feature))
                    sibling_splits[feature] = best_split(*sibling, feature);
            }
        };
        // Smaller work is done before other threads would wake up.
        constexpr std::size_t few = 1 << 14;
        const std::size_t n_blocks = n_feature_blocks();
        const std::size_t n_cells =
            bins_.bin_start[bins_.n_features] + leaf.n_rows() * n_features();
        if (n_cells < few)
            for (std::size_t block = 0; block < n_blocks; ++block) work_on(block);
        else
            team_.run(n_blocks, work_on);
        choose(leaf, splits);
        if (sibling) choose(*sibling, sibling_splits);
    }

    std::size_t n_features() const { return bins_.n_features; }
    std::size_t n_feature_blocks() const { return std::min(n_features(), 8 * team_.size()); }
    std::pair<std::uint32_t, std::uint32_t> features_of(std::size_t block) const {
        const std::size_t n = n_feature_blocks();
        return {static_cast<std::uint32_t>(n_features() * block / n),
                static_cast<std::uint32_t>(n_features() * (block + 1) / n)};
    }

    void fill(const GradientRows& node, const Leaf& leaf, std::uint32_t feature) const {
        const std::int64_t first = bins_.bin_start[feature], end = bins_.bin_start[feature + 1];
        double* histogram = leaf.histogram->data();
        if (!bins_.is_sparse()) {
            std::fill(histogram + first * stride_, histogram + end * stride_, 0.0);
            kernels().add_to_bins(node, bins_.columns + feature * bins_.n_rows,
                                  histogram + first * stride_);
            return;
        }
        double* zeros = histogram + bins_.zero_place[feature] * stride_;
        std::copy_n(leaf.total.data(), stride_, zeros);
        for (std::int64_t place = first; place < end; ++place)
            if (place != bins_.zero_place[feature])
                for (std::size_t i = 0; i < stride_; ++i)
                    zeros[i] -= histogram[place * stride_ + i];
    }

    void subtract(const Leaf& leaf, Leaf& sibling, std::uint32_t feature) const {
        const std::size_t first = bins_.bin_start[feature] * stride_;
        const std::size_t end = bins_.bin_start[feature + 1] * stride_;
        const double* taken = leaf.histogram->data();
        double* left_over = sibling.histogram->data();
        for (std::size_t i = first; i < end; ++i) left_over[i] -= taken[i];
    }

    Split best_split(const Leaf& leaf, std::uint32_t feature) const {
        AlignedVector<double> scratch(stride_ > 16 ? stride_ : 0);
        const BinCut cut =
            kernels().find_bin_cut({leaf.histogram->data() + bins_.bin_start[feature] * stride_,
                                    bins_.n_known(feature), leaf.total.data(), stride_,
                                    static_cast<double>(std::max(1u, params_.min_samples_leaf)),
                                    params_.l2, scratch.data()});
        const double before = score(leaf.total);
        // If gradients are equal, gains are only rounding errors.
        const double gain = cut.score - before;
        if (!(gain > 1e-10 * before) || !(gain > params_.min_gain)) return {};
        return {gain, feature, cut.bin, cut.missing_left};
    }

    double score(const std::vector<double>& total) const {
        double squares = 0;
        for (std::size_t i = before_gradients; i < stride_; ++i) squares += total[i] * total[i];
        return squares / (total[0] + params_.l2);
    }

    // The first feature of the largest gain.
    static void choose(Leaf& leaf, const std::vector<Split>& splits) {
        for (const Split& split : splits)
            if (split.gain > leaf.split.gain) leaf.split = split;
    }

    // Features of a node, ascending, drawn from a stream of its own.
    std::vector<std::uint32_t> sampled(const Leaf& leaf) {
        if (params_.max_features >= n_features()) return features_;
        Stream stream(params_.key + 2 * static_cast<std::uint64_t>(leaf.parent + 1) +
                      static_cast<std::uint64_t>(leaf.side));
        std::vector<std::uint32_t> drawn = features_;
        for (std::uint32_t i = 0; i < params_.max_features; ++i)
            std::swap(drawn[i],
                      drawn[i + stream.below(static_cast<std::uint32_t>(n_features()) - i)]);
        drawn.resize(params_.max_features);
        std::sort(drawn.begin(), drawn.end());
        return drawn;
    }

    bool goes_left(std::size_t row, const BinNode& node) const {
        const std::uint32_t bin = bins_.bin(row, node.feature);
        if (bin == bins_.n_known(node.feature)) return node.missing_left;
        return bin <= static_cast<std::uint32_t>(node.bin);
    }

    // Moves the rows that go left to the front; both sides stay ascending.
    std::uint32_t partition(const Leaf& leaf) {
        const BinNode& node = tree_.nodes.back();
        std::uint32_t middle = leaf.first, n_right = 0;
        for (std::uint32_t at = leaf.first; at < leaf.end; ++at) {
            const std::uint32_t row = tree_.rows[at];
            if (goes_left(row, node))
                tree_.rows[middle++] = row;
            else
                spare_[n_right++] = row;
        }
        std::copy_n(spare_.data(), n_right, tree_.rows.data() + middle);
        return middle;
    }

    // Leaves in the order of their numbers, and the leaves of rows that are not in the bag.
    void finish() {
        std::vector<std::uint32_t> ordered;
        ordered.reserve(tree_.rows.size());
        tree_.leaf_start.push_back(0);
        tree_.leaf_of.assign(bins_.n_rows, -1);
        for (std::size_t number = 0; number < leaves_.size(); ++number) {
            for (std::uint32_t at = leaves_[number].first; at < leaves_[number].end; ++at) {
                ordered.push_back(tree_.rows[at]);
                tree_.leaf_of[tree_.rows[at]] = static_cast<std::int32_t>(number);
            }
            tree_.leaf_start.push_back(static_cast<std::int64_t>(ordered.size()));
        }
        tree_.rows = std::move(ordered);
        if (tree_.rows.size() == bins_.n_rows) return;
        constexpr std::size_t block_rows = 4096;
        team_.run((bins_.n_rows + block_rows - 1) / block_rows, [&](std::size_t block) {
            const std::size_t end = std::min(bins_.n_rows, (block + 1) * block_rows);
            for (std::size_t row = block * block_rows; row < end; ++row)
                if (tree_.leaf_of[row] < 0) tree_.leaf_of[row] = find_leaf(row);
        });
    }

    std::int32_t find_leaf(std::size_t row) const {
        if (tree_.nodes.empty()) return 0;
        std::int32_t at = 0;
        while (at >= 0) at = tree_.nodes[at].child[goes_left(row, tree_.nodes[at]) ? 0 : 1];
        return -1 - at;
    }

    const BinnedX& bins_;
    const float* gradients_;
    std::size_t stride_;
    const BoostParams& params_;
    Stop& stop_;
    Team team_;
    std::vector<std::uint32_t> features_;
    std::vector<float> gathered_;
    std::vector<std::uint32_t> spare_;
    std::vector<Leaf> leaves_;
    std::vector<std::unique_ptr<Histogram>> spare_histograms_;
    // Largest gain first; of equal ones the leaf of the smaller number.
    struct ComesLater {
        using Open = std::pair<double, std::uint32_t>;
        bool operator()(const Open& a, const Open& b) const {
            return a.first < b.first || (a.first == b.first && a.second > b.second);
        }
    };
    std::priority_queue<ComesLater::Open, std::vector<ComesLater::Open>, ComesLater> open_;
    BoostTree tree_;
};

}  // namespace

BoostTree grow_boosted(const BinnedX& bins, const float* gradients, std::size_t stride,
                       std::span<const std::uint32_t> rows, const BoostParams& params,
                       std::size_t n_threads, Stop& stop) {
    return Grower(bins, gradients, stride, rows, params, n_threads, stop).grow();
}

}  // namespace sketchforest
