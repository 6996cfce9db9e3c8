#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "direction.hpp"
#include "kernels.hpp"
#include "node_rows.hpp"
#include "oblique.hpp"
#include "projected_cuts.hpp"
#include "team.hpp"
#include "tree_builder.hpp"

namespace sketchforest {
namespace {

// Share of the squares of the outputs: a smaller variance is rounding error.
constexpr double no_variance = 1e-10;
// Rows that suffice to choose the direction of the outputs, of some dozens of components, to aim
// at.
constexpr std::size_t most_aiming_rows = 128;
// A direction is fitted to the rows that it splits, and gains less on others: a split at a single
// feature is preferred if it gains this share.
constexpr double single_share = 0.9;

struct Pending {  // a node that waits for its turn: rows [begin, end) of the order
    std::uint32_t begin, end;
    Place place;

    std::uint32_t size() const { return end - begin; }
};

struct Split {
    SplitPoint cut{{}, 0, 0};  // none where it takes no rows
    float threshold = 0;
    std::optional<std::uint32_t> feature;  // none: along the direction
};

struct Candidate : Priority {  // a node whose rows are split, waiting to become an inner node
    Pending node;
    std::uint32_t n_left;
    float threshold;
    std::uint32_t feature;
    std::vector<std::int32_t> columns;
    std::vector<std::uint16_t> weights;
};

class ObliqueGrower {
  public:
    ObliqueGrower(const FloatRows& x, const float* z, std::size_t stride, const Bag& bag,
                  const ObliqueParams& params, Stop& stop)
        : z_(z),
          stride_(stride),
          bag_(bag),
          params_(params),
          stop_(stop),
          stream_(params.key),
          team_(params.n_threads),
          x_(x),
          singles_(x.is_sparse() ? 0 : x.n_features),
          finder_(params, bag.rows.size(), x.n_features, stride),
          cuts_(params),
          order_(bag.rows.size()),
          rows_(bag.rows.size()),
          weights_(bag.rows.size()),
          wide_weights_(bag.rows.size()),
          centred_(bag.rows.size() * stride),
          mean_(stride),
          positions_(bag.rows.size()),
          single_(bag.rows.size()),
          right_(bag.rows.size()) {
        std::iota(order_.begin(), order_.end(), 0u);
        std::iota(singles_.begin(), singles_.end(), 0u);
        identity_ = order_;
    }

    ObliqueTree grow() {
        std::vector<Candidate> open;  // by gain where leaves are limited, else the last one first
        consider({0, static_cast<std::uint32_t>(order_.size()), {}}, open);
        const bool is_limited = params_.max_leaf_nodes > 0;
        for (std::uint32_t n_leaves = 1; !open.empty(); ++n_leaves) {
            if (is_limited && n_leaves >= params_.max_leaf_nodes) break;
            if (is_limited) std::pop_heap(open.begin(), open.end());
            const Candidate next = std::move(open.back());
            open.pop_back();
            if (must_stop(next.node.size())) return {};
            const auto [left, right] = make_inner(next);
            const std::uint32_t middle = next.node.begin + next.n_left;
            consider({next.node.begin, middle, left}, open);
            consider({middle, next.node.end, right}, open);
        }
        if (is_stopped_) return {};
        for (const Candidate& left : open) make_leaf(left.node);
        return {std::move(builder_.tree), std::move(directions_)};
    }

  private:
    // Once it is, nothing is begun any more.
    bool must_stop(std::size_t n_rows) {
        is_stopped_ = is_stopped_ || stop_.requested(n_rows);
        return is_stopped_;
    }

    void consider(const Pending& node, std::vector<Candidate>& open) {
        if (TreeBuilder::must_be_leaf(params_, node.place, node.size())) return make_leaf(node);
        const bool may_be_part = !node.place.is_root() && !params_.max_leaf_nodes;
        if (may_be_part && params_.parts.include(node.size())) {
            builder_.mark_part(node.place);
            return make_leaf(node);
        }
        auto candidate = try_split(node);
        if (!candidate) return make_leaf(node);
        open.push_back(std::move(*candidate));
        if (params_.max_leaf_nodes) std::push_heap(open.begin(), open.end());
    }

    // Asks whether to stop after each pass over the rows: a large node takes long.
    std::optional<Candidate> try_split(const Pending& node) {
        const std::span<const std::uint32_t> members{order_.data() + node.begin, node.size()};
        const bool cuts_singles = params_.n_single_features > 0 && !singles_.empty();
        std::optional<CentredOutputs> outputs;
        Split split;
        if (!cuts_singles || node.size() >= params_.min_direction_rows) {
            // A sample may miss the few rows that differ from the others; then all rows are used.
            const bool is_sampled = node.size() > 2 * most_aiming_rows && aim(sample(members));
            outputs = is_sampled ? open_node(members) : aim(members);
            if (must_stop(node.size())) return {};
            if (outputs) split = split_along_direction(*outputs);
            if (must_stop(node.size())) return {};
        }
        if (cuts_singles) {
            if (!outputs) outputs = open_node(members);
            if (outputs) split_single_features(*outputs, split);
            if (must_stop(node.size())) return {};
        }
        if (split.cut.n_taken == 0 || split.cut.score.value() < params_.min_gain) return {};
        auto candidate = to_candidate(node, split);
        partition(node, candidate.threshold);
        return candidate;
    }

    Split split_along_direction(const CentredOutputs& outputs) {
        if (!finder_.find(x_, outputs, params_.n_steps) || must_stop(outputs.n_rows)) return {};
        if (!finder_.finish(x_, outputs) || must_stop(outputs.n_rows)) return {};
        const SplitPoint cut = find_cut(outputs, finder_.projected(), params_.min_side);
        if (cut.n_taken == 0) return {};
        std::copy_n(finder_.projected(), outputs.n_rows, positions_.begin());
        return {cut, threshold_after(cut.n_taken), {}};
    }

    // Cuts features drawn without replacement one by one, until one can be cut; the best of them
    // becomes the split if it is nearly as good as the one along the direction.
    void split_single_features(const CentredOutputs& outputs, Split& split) {
        double best = split.cut.n_taken ? single_share * split.cut.score.value()
                                        : -std::numeric_limits<double>::infinity();
        for (std::uint32_t k = 0; k < singles_.size(); ++k) {
            if (k >= params_.n_single_features && split.cut.n_taken) break;
            if (must_stop(outputs.n_rows)) return;
            const auto n_left = static_cast<std::uint32_t>(singles_.size()) - k;
            std::swap(singles_[k], singles_[k + stream_.below(n_left)]);
            x_.column(singles_[k], single_.data());
            const SplitPoint cut = find_cut(outputs, single_.data(), 0);
            if (cut.n_taken == 0 || !(cut.score.value() > best)) continue;
            best = cut.score.value();
            split = {cut, threshold_after(cut.n_taken), singles_[k]};
            std::swap(positions_, single_);
        }
    }

    // In a large node, evenly spread rows suffice to choose the direction to aim at.
    std::span<const std::uint32_t> sample(std::span<const std::uint32_t> members) {
        sample_.resize(most_aiming_rows);
        for (std::size_t i = 0; i < most_aiming_rows; ++i)
            sample_[i] = members[i * members.size() / most_aiming_rows];
        return sample_;
    }

    // Finds the direction of the outputs to aim at; returns the outputs of the rows, or nothing if
    // there is no direction. The direction between the two sides of a cut separates labels better
    // than the direction of largest variance, and one step finds a cut that is good enough for
    // that.
    std::optional<CentredOutputs> aim(std::span<const std::uint32_t> members) {
        const auto outputs = open_node(members);
        if (!outputs || !finder_.aim_at_leading(*outputs, stream_)) return {};
        double best = -std::numeric_limits<double>::infinity();
        for (std::uint32_t round = 0; round < params_.n_refinements; ++round) {
            if (!finder_.find(x_, *outputs, 1)) return {};
            const SplitPoint cut = find_cut(*outputs, finder_.projected(), params_.min_side);
            if (cut.n_taken == 0) return {};
            if (!(cut.score.value() > best)) break;
            best = cut.score.value();
            if (!aim_between_sides(*outputs, cut.n_taken)) break;
        }
        return outputs;
    }

    Candidate to_candidate(const Pending& node, const Split& split) {
        const auto feature = split.feature.value_or(
            static_cast<std::uint32_t>(x_.feature(finder_.strongest_column())));
        Candidate candidate{{split.cut.score.value(), serial_++},
                            node,
                            static_cast<std::uint32_t>(split.cut.n_taken),
                            split.threshold,
                            feature,
                            {},
                            {}};
        if (split.feature) {
            candidate.columns.push_back(static_cast<std::int32_t>(feature));
            candidate.weights.push_back(to_half(1));
            return candidate;
        }
        for (const std::uint32_t column : finder_.columns()) {
            candidate.columns.push_back(x_.feature(column));
            candidate.weights.push_back(to_half(finder_.weight(column)));
        }
        return candidate;
    }

    bool aim_between_sides(const CentredOutputs& outputs, std::size_t n_left) {
        // Of centered outputs, one side is the other with another sign.
        const std::size_t n = outputs.n_rows;
        const bool sums_left = 2 * n_left < n;
        const std::size_t begin = sums_left ? 0 : n_left, end = sums_left ? n_left : n;
        for (std::size_t i = begin; i < end; ++i) right_[i - begin] = cuts_.entries()[i].row;
        side_.assign(stride_, 0);
        kernels().sum_float(outputs.z, wide_weights_.data(), stride_, right_.data(), end - begin,
                            side_.data());
        if (sums_left)
            for (double& component : side_) component = -component;
        return finder_.aim_at(side_.data());
    }

    // The rows of the node, their weights and their outputs, centered; nothing where these are all
    // the same.
    std::optional<CentredOutputs> open_node(std::span<const std::uint32_t> span) {
        const std::size_t n = span.size();
        const std::uint32_t* members = span.data();
        const Pieces pieces(n, params_.piece_rows, team_);
        const double weight = pieces.sum(0, [&](std::size_t begin, std::size_t end, double sum) {
            for (std::size_t i = begin; i < end; ++i) {
                rows_[i] = bag_.rows[members[i]];
                wide_weights_[i] = bag_.weights[members[i]];
                weights_[i] = static_cast<float>(wide_weights_[i]);
                sum += weights_[i];
            }
            return sum;
        });
        sum_outputs(z_, bag_.weights.data(), members, pieces);
        double squares = 0;
        for (std::size_t c = 0; c < stride_; ++c) {
            mean_[c] = static_cast<float>(total_[c] / weight);
            squares += total_[c] * (total_[c] / weight);
        }
        const double left = pieces.sum(0, [&](std::size_t begin, std::size_t end, double sum) {
            return sum + kernels().centre_rows({z_, members + begin, end - begin, stride_,
                                                weights_.data() + begin, mean_.data(),
                                                centred_.data() + begin * stride_});
        });
        if (!(left > no_variance * (left + squares))) return {};
        // Centered in floats, the outputs add up to nearly nothing, and cuts are scored by how
        // much.
        weight_ = pieces.sum(0, [&](std::size_t begin, std::size_t end, double sum) {
            return std::accumulate(&wide_weights_[begin], &wide_weights_[begin] + (end - begin),
                                   sum);
        });
        sum_outputs(centred_.data(), wide_weights_.data(), identity_.data(), pieces);
        x_.load({rows_.data(), n}, pieces);
        finder_.open();
        return CentredOutputs{centred_.data(), n, stride_, weights_.data(), weight, pieces};
    }

    void sum_outputs(const float* z, const double* weights, const std::uint32_t* rows,
                     const Pieces& pieces) {
        total_.resize(stride_);
        pieces.add_up(stride_, total_.data(), by_piece_,
                      [&](std::size_t, std::size_t begin, std::size_t end, double* sums) {
                          kernels().sum_float(z, weights, stride_, rows + begin, end - begin, sums);
                      });
    }

    SplitPoint find_cut(const CentredOutputs& outputs, const float* positions, double min_side) {
        side_.resize(stride_);
        const DenseNode node{outputs.z,     false,   wide_weights_.data(),
                             total_.data(), stride_, side_.data()};
        return cuts_.find(positions, outputs, node, weight_, min_side);
    }

    // Between the last row on the left and the first one on the right.
    float threshold_after(std::size_t n_left) const {
        const float low = from_sortable(cuts_.entries()[n_left - 1].code);
        const float high = from_sortable(cuts_.entries()[n_left].code);
        const float middle =
            rounded_down(static_cast<double>(low) / 2 + static_cast<double>(high) / 2);
        return low <= middle && middle < high ? middle : low;
    }

    // Left rows first, both sides in their old order.
    void partition(const Pending& node, float threshold) {
        std::uint32_t* const members = order_.data() + node.begin;
        std::size_t n_left = 0, n_right = 0;
        for (std::size_t i = 0; i < node.size(); ++i) {
            const std::uint32_t member = members[i];
            if (positions_[i] <= threshold)
                members[n_left++] = member;
            else
                right_[n_right++] = member;
        }
        std::copy_n(right_.begin(), n_right, members + n_left);
    }

    void make_leaf(const Pending& node) {
        const std::span<const std::uint32_t> members{order_.data() + node.begin, node.size()};
        builder_.add_leaf(node.place, members, [](std::uint32_t member) { return member; });
    }

    std::pair<Place, Place> make_inner(const Candidate& candidate) {
        auto& [start, columns, weights] = directions_;
        columns.insert(columns.end(), candidate.columns.begin(), candidate.columns.end());
        weights.insert(weights.end(), candidate.weights.begin(), candidate.weights.end());
        start.push_back(static_cast<std::uint32_t>(columns.size()));
        return builder_.add_inner(candidate.node.place, candidate.feature, candidate.threshold,
                                  candidate.gain);
    }

    const float* z_;
    std::size_t stride_;
    const Bag& bag_;
    const ObliqueParams& params_;
    Stop& stop_;
    Stream stream_;
    Team team_;
    NodeRows x_;
    std::vector<std::uint32_t> singles_;  // features, those of the last draw first
    DirectionFinder finder_;
    ProjectedCuts cuts_;
    std::vector<std::uint32_t> order_;  // positions in the bag; each node is a range
    // Of the node that is open, in the order of its rows.
    std::vector<std::int32_t> rows_;
    std::vector<float> weights_;
    std::vector<double> wide_weights_;
    AlignedVector<float> centred_, mean_;
    std::vector<float> positions_;  // along the best split so far
    std::vector<float> single_;     // along a feature that is tried
    std::vector<double> total_, by_piece_;
    double weight_ = 0;
    AlignedVector<double> side_;
    std::vector<std::uint32_t> right_, identity_, sample_;
    std::size_t serial_ = 0;
    bool is_stopped_ = false;
    TreeBuilder builder_;
    Directions directions_;
};

}  // namespace

ObliqueTree grow_oblique(const FloatRows& x, const float* z, std::size_t stride, const Bag& bag,
                         const ObliqueParams& params, Stop& stop) {
    return ObliqueGrower(x, z, stride, bag, params, stop).grow();
}

}  // namespace sketchforest
