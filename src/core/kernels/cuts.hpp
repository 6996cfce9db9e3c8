// The best of the cuts of a scan, by their scores.
#pragma once

#include "kernels.hpp"
#include "kernels/lanes.hpp"

namespace sketchforest {
namespace {

constexpr int cut_lanes = 8;

// Replaces `cut` by one that takes more rows, if that is better.
inline void consider_next(SplitPoint& cut, const Limits& limits, Pair squares, double a_weight,
                          std::size_t n_taken) {
    const double b_weight = limits.weight - a_weight;
    if (a_weight < limits.min_weight || b_weight < limits.min_weight) return;
    const Score score = Score::of(squares.a, a_weight, squares.b, b_weight);
    if (score > cut.score) cut = {score, n_taken, a_weight};
}

// Eight cuts: the squares of the sums of their sides, the weights of side A, and its rows.
struct EightCuts {
    Doubles<cut_lanes> a_squares, b_squares, a_weight, n_taken;
};

// The best cut of a scan. Each lane keeps a best one of its own, as long as the scan lasts: good
// cuts come in runs of ever better ones, and to find the best of eight takes longer than to score
// them.
class BestCut {
    using Lane = Doubles<cut_lanes>;

  public:
    BestCut(const Limits& limits, const Score& score)
        : limits_(limits),
          start_(score),
          numerator_(score.numerator + Lane{}),
          denominator_(score.denominator + Lane{}) {}

    void consider(const EightCuts& cuts) {
        const Lane b_weight = limits_.weight - cuts.a_weight;
        const Lane numerator = cuts.a_squares * b_weight + cuts.b_squares * cuts.a_weight;
        const Lane denominator = cuts.a_weight * b_weight;
        const auto is_better = (cuts.a_weight >= limits_.min_weight) &
                               (b_weight >= limits_.min_weight) &
                               (numerator * denominator_ > numerator_ * denominator);
        if (!any(is_better)) return;
        numerator_ = is_better ? numerator : numerator_;
        denominator_ = is_better ? denominator : denominator_;
        a_weight_ = is_better ? cuts.a_weight : a_weight_;
        n_taken_ = is_better ? cuts.n_taken : n_taken_;
        is_found_ = true;
    }

    // Of equal cuts the one that takes fewest rows.
    SplitPoint find() const {
        SplitPoint cut{start_, 0, 0};
        if (!is_found_) return cut;
        for (int i = 0; i < cut_lanes; ++i) {
            const auto n_taken = static_cast<std::size_t>(n_taken_[i]);
            if (n_taken == 0) continue;
            const Score score{numerator_[i], denominator_[i]};
            const bool is_first = n_taken < cut.n_taken && !(cut.score > score);
            if (is_first || score > cut.score) cut = {score, n_taken, a_weight_[i]};
        }
        return cut;
    }

  private:
    const Limits& limits_;
    Score start_;
    Lane numerator_, denominator_, a_weight_{}, n_taken_{};
    bool is_found_ = false;
};

// A chunk of cuts, of which the first one takes n_taken entries.
inline void consider(CutTerms& terms, std::size_t size, std::size_t n_taken, double total_squares,
                     BestCut& best) {
    for (std::size_t i = size; i % cut_lanes; ++i) {
        terms.squares[i] = CutTerms::no_cut;
        terms.by_total[i] = terms.weights[i] = 0;
    }
    Doubles<cut_lanes> taken =
        static_cast<double>(n_taken) + Doubles<cut_lanes>{0, 1, 2, 3, 4, 5, 6, 7};
    for (std::size_t i = 0; i < size; i += cut_lanes, taken += cut_lanes) {
        const auto a_squares = load<double, cut_lanes>(terms.squares + i);
        const Doubles<cut_lanes> b_squares =
            total_squares - 2 * load<double, cut_lanes>(terms.by_total + i) + a_squares;
        best.consider({a_squares, b_squares, load<double, cut_lanes>(terms.weights + i), taken});
    }
}

// The lanes of eight vectors added up, as `sums` adds them up: neighbors first.
template <class Vector>
inline Vector sums_of_eight(const Vector* v) {
    Vector pairs[4], fours[2];
    for (int i = 0; i < 4; ++i)
        pairs[i] = __builtin_shufflevector(v[2 * i], v[2 * i + 1], 0, 8, 2, 10, 4, 12, 6, 14) +
                   __builtin_shufflevector(v[2 * i], v[2 * i + 1], 1, 9, 3, 11, 5, 13, 7, 15);
    for (int i = 0; i < 2; ++i)
        fours[i] =
            __builtin_shufflevector(pairs[2 * i], pairs[2 * i + 1], 0, 1, 2, 3, 8, 9, 10, 11) +
            __builtin_shufflevector(pairs[2 * i], pairs[2 * i + 1], 4, 5, 6, 7, 12, 13, 14, 15);
    return __builtin_shufflevector(fours[0], fours[1], 0, 1, 4, 5, 8, 9, 12, 13) +
           __builtin_shufflevector(fours[0], fours[1], 2, 3, 6, 7, 10, 11, 14, 15);
}
inline Doubles<8> sums_of_eight(const Doubles<4>* v) {
    Doubles<4> fours[2];
    for (int i = 0; i < 2; ++i) {
        const Doubles<4>* of = v + 4 * i;
        const Doubles<4> first = __builtin_shufflevector(of[0], of[1], 0, 4, 2, 6) +
                                 __builtin_shufflevector(of[0], of[1], 1, 5, 3, 7);
        const Doubles<4> second = __builtin_shufflevector(of[2], of[3], 0, 4, 2, 6) +
                                  __builtin_shufflevector(of[2], of[3], 1, 5, 3, 7);
        fours[i] = __builtin_shufflevector(first, second, 0, 1, 4, 5) +
                   __builtin_shufflevector(first, second, 2, 3, 6, 7);
    }
    return __builtin_shufflevector(fours[0], fours[1], 0, 1, 2, 3, 4, 5, 6, 7);
}

}  // namespace
}  // namespace sketchforest
