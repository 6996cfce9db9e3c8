#include "grower.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>

#include "criterion.hpp"
#include "feature_reader.hpp"
#include "splitter.hpp"
#include "tree_builder.hpp"

namespace sketchforest {
namespace {

struct Pending {  // a node that waits for its turn
    Range range;
    std::size_t depth;  // of its subset in the stack
    Place place;
};

struct Candidate : Priority {  // a node whose rows are split, waiting to become an inner node
    Pending node;
    Split split;
    std::uint32_t n_left;
};

class Grower {
  public:
    Grower(const Codes& codes, const Outputs& outputs, const Bag& bag, const GrowParams& params,
           Stop& stop)
        : codes_(codes),
          bag_(bag),
          params_(params),
          stop_(stop),
          reader_(codes.sparse ? make_sparse_reader(codes) : make_dense_reader(codes)),
          criterion_(make_criterion(outputs)),
          team_(bag.rows.size() < params.shared_rows ? 1 : params.n_threads),
          splitter_(codes, *reader_, *criterion_, params, bag.rows.size(), team_),
          weights_are_alike_(are_alike(bag.weights)) {
        std::vector<std::uint32_t> all(bag.rows.size());
        std::iota(all.begin(), all.end(), 0u);
        enter_subset(0, all);
    }

    Tree grow() {
        const bool done = params_.max_leaf_nodes ? grow_best_first() : grow_depth_first();
        if (!done) return {};
        set_thresholds();
        return std::move(builder_.tree);
    }

  private:
    std::unique_ptr<SplitCriterion> make_criterion(const Outputs& outputs) const {
        switch (params_.impurity) {
            case Impurity::variance:
                break;
            case Impurity::absolute_error:
                return make_absolute_error_criterion(outputs, bag_);
            default:
                return make_deviance_criterion(outputs, bag_, params_.impurity);
        }
        if (!outputs.z)
            return make_sparse_criterion(outputs.sparse, bag_, rows_are_read_often(),
                                         params_.random_cuts);
        return make_dense_criterion(outputs, !codes_.sparse && !params_.random_cuts);
    }

    // Whether the search reads a row of a node more than once, over all features that it draws.
    bool rows_are_read_often() const {
        if (!codes_.sparse) return true;
        const auto n_entries = static_cast<double>(codes_.row_start[codes_.n_rows]);
        const auto n_cells =
            static_cast<double>(codes_.n_rows) * static_cast<double>(codes_.n_features);
        return params_.max_features * n_entries > n_cells;
    }

    // A node's sums may be its parent's less its sibling's, unless a light node would be left with
    // the rounding errors of its heavy relatives.
    static bool are_alike(std::span<const double> weights) {
        const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
        const double lightest = *std::min_element(weights.begin(), weights.end());
        return total <= 0x1p32 * lightest;
    }

    // Nothing recurses: trees on sparse data are chains hundreds of nodes deep. The node at place i
    // of the stack has its sums in slot i of the criterion.
    bool grow_depth_first() {
        std::vector<Pending> stack{root()};
        while (!stack.empty()) {
            Pending node = stack.back();
            stack.pop_back();
            if (stop_.requested(node.range.size())) return false;
            if (must_be_leaf(node)) {
                make_leaf(node);
                continue;
            }
            if (!node.place.is_root() && params_.parts.include(node.range.size())) {
                builder_.mark_part(node.place);
                make_leaf(node);
                continue;
            }
            const std::size_t slot = stack.size();
            const bool has_moved = !node.place.is_root() && move_to_own_subset(node);
            const bool is_summed = !node.place.is_root() && !has_moved && weights_are_alike_;
            const auto split = try_split(node, is_summed ? slot : SplitCriterion::no_slot);
            if (!split) {
                make_leaf(node);
                continue;
            }
            const auto [left, right] = make_children(*split);
            // The lighter child waits. By weight and not by size, so that a row of weight 2 grows
            // the same tree as two rows.
            const double left_weight = split->split.left_weight;
            const double right_weight = criterion_->weight() - left_weight;
            const bool left_waits = left_weight < right_weight;
            const Pending& lighter = left_waits ? left : right;
            criterion_->close(subsets_[node.depth], lighter.range,
                              left_waits ? left_weight : right_weight, slot);
            stack.push_back(lighter);
            stack.push_back(left_waits ? right : left);
        }
        return true;
    }

    // The leaf whose split gains most is split first, until there are enough leaves.
    bool grow_best_first() {
        std::priority_queue<Candidate> queue;
        const auto consider = [&](const Pending& node) {
            const auto split =
                must_be_leaf(node) ? std::nullopt : try_split(node, SplitCriterion::no_slot);
            if (split)
                queue.push(*split);
            else
                make_leaf(node);
        };
        consider(root());
        for (std::uint32_t n_leaves = 1; n_leaves < params_.max_leaf_nodes && !queue.empty();
             ++n_leaves) {
            const Candidate best = queue.top();
            queue.pop();
            if (stop_.requested(best.node.range.size())) return false;
            const auto [left, right] = make_children(best);
            consider(left);
            consider(right);
        }
        for (; !queue.empty(); queue.pop()) make_leaf(queue.top().node);
        return true;
    }

    // Finds the best split and reorders the node's rows by it; nothing if no split is valid.
    std::optional<Candidate> try_split(const Pending& node, std::size_t slot) {
        RowSubset& subset = subsets_[node.depth];
        const std::uint32_t size = node.range.size();
        const Pieces pieces(size, size < params_.shared_rows ? 0 : params_.shared_rows / 4, team_);
        criterion_->open(node.depth, subset, node.range, slot, pieces);
        const Split split = splitter_.search(node.depth, subset, node.range, pieces);
        const double gain = split.score.value() - criterion_->score();
        if (!split.found || gain < params_.min_gain) return {};
        const auto n_left = splitter_.partition(node.depth, subset, node.range, split);
        return Candidate{{gain, serial_++}, node, split, n_left};
    }

    Pending root() const { return {{0, static_cast<std::uint32_t>(bag_.rows.size())}, 0, {}}; }

    bool must_be_leaf(const Pending& node) const {
        return TreeBuilder::must_be_leaf(params_, node.place, node.range.size()) ||
               criterion_->pure(node.depth, node.range.rows(subsets_[node.depth]));
    }

    void enter_subset(std::size_t depth, std::span<const std::uint32_t> parent_rows) {
        if (subsets_.size() <= depth) subsets_.resize(depth + 1);
        RowSubset& subset = subsets_[depth];
        const std::size_t n = parent_rows.size();
        subset.member.resize(n);
        subset.row.resize(n);
        subset.weight.resize(n);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t row = parent_rows[i];
            subset.member[i] = depth ? subsets_[depth - 1].member[row] : row;
            subset.row[i] = bag_.rows[subset.member[i]];
            subset.weight[i] = bag_.weights[subset.member[i]];
        }
        subset.order.resize(n);
        std::iota(subset.order.begin(), subset.order.end(), 0u);
        subset.position = subset.order;
        reader_->enter(depth, subset);
        criterion_->enter(depth, parent_rows);
    }

    // Subsets above a node's own belong to subtrees that are finished, so the new one may take
    // their place.
    bool move_to_own_subset(Pending& node) {
        const std::uint32_t size = node.range.size();
        if (!reader_->wants_subset(size, subsets_[node.depth].row.size())) return false;
        enter_subset(node.depth + 1, node.range.rows(subsets_[node.depth]));
        ++node.depth;
        node.range = {0, size};
        return true;
    }

    void make_leaf(const Pending& node) {
        const RowSubset& subset = subsets_[node.depth];
        builder_.add_leaf(node.place, node.range.rows(subset),
                          [&](std::uint32_t row) { return subset.member[row]; });
    }

    std::pair<Pending, Pending> make_children(const Candidate& candidate) {
        const Pending& node = candidate.node;
        const Split& split = candidate.split;
        const std::uint32_t bit = split.missing_left ? missing_left_bit : 0;
        const auto [left, right] =
            builder_.add_inner(node.place, split.feature | bit, 0, candidate.gain);
        cuts_.push_back({split.last_left, split.first_right, split.only_missing_right,
                         split.is_random, split.cut});
        const std::uint32_t middle = node.range.begin + candidate.n_left;
        return {{{node.range.begin, middle}, node.depth, left},
                {{middle, node.range.end}, node.depth, right}};
    }

    // A float keeps seven digits of a cut, unless the cut is so large or so near zero that it
    // overflows, underflows or becomes denormal.
    static bool is_out_of_floats(double cut, float rounded) {
        using Float = std::numeric_limits<float>;
        return rounded != cut && !(std::abs(cut) >= Float::min() && std::abs(cut) <= Float::max());
    }

    // Half-way between the two values, as a float, rounded away from the value on the right. Where
    // that is beyond the one on the left too, or no float is near, the tree keeps its table of
    // doubles. All at the end: the values lie far apart in memory, and one after the other would
    // wait for each of them.
    void set_thresholds() {
        Tree& tree = builder_.tree;
        bool needs_doubles = false;
        tree.wide_thresholds.resize(tree.nodes.size());
        for (std::size_t i = 0; i < tree.nodes.size(); ++i) {
            const auto [last_left, first_right, only_missing_right, is_random, drawn] = cuts_[i];
            const std::uint32_t feature = tree.nodes[i].feature & ~missing_left_bit;
            double cut = std::numeric_limits<double>::infinity();
            float rounded = std::numeric_limits<float>::infinity();
            if (!only_missing_right) {
                const double low = codes_.value(feature, last_left);
                const double high = codes_.value(feature, first_right);
                cut = is_random ? drawn : low / 2 + high / 2;
                if (!(low <= cut && cut < high)) cut = low;
                rounded = rounded_down(cut);
                needs_doubles |= rounded < low || is_out_of_floats(cut, rounded);
            }
            tree.nodes[i].threshold = rounded;
            tree.wide_thresholds[i] = cut;
        }
        if (!needs_doubles) tree.wide_thresholds.clear();
    }

    struct ChosenCut {  // of an inner node, in codes; `drawn` in the feature's own unit
        std::uint32_t last_left, first_right;
        bool only_missing_right, is_random;
        double drawn;
    };

    const Codes& codes_;
    const Bag& bag_;
    const GrowParams& params_;
    Stop& stop_;
    std::unique_ptr<FeatureReader> reader_;
    std::unique_ptr<SplitCriterion> criterion_;
    Team team_;
    Splitter splitter_;
    bool weights_are_alike_;
    std::vector<RowSubset> subsets_;
    std::size_t serial_ = 0;
    std::vector<ChosenCut> cuts_;
    TreeBuilder builder_;
};

}  // namespace

Tree grow(const Codes& codes, const Outputs& outputs, const Bag& bag, const GrowParams& params,
          Stop& stop) {
    return Grower(codes, outputs, bag, params, stop).grow();
}

}  // namespace sketchforest
