// All cuts of all features of a small node.
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

// One lane per row: the cut after its code. Comparing codes decides which rows are on side A, so
// nothing is sorted, and no branch can be mispredicted.
template <int C>
SmallCut scan(const SmallNode& node, const Limits& limits, const Score& best) {
    constexpr int lanes = 8;
    using Longs = typename Lanes<std::int64_t, lanes>::type;
    const std::size_t n = limits.n_rows;
    const std::size_t stride = small_stride(n);
    const auto least = static_cast<double>(limits.min_rows);
    const auto most = static_cast<double>(n - limits.min_rows);
    SmallCut cut{best, 0, 0, 0, 0};
    alignas(64) double codes[most_small];  // as doubles, they are compared in the lanes of the sums
    for (std::size_t feature = 0; feature < node.n_features; ++feature) {
        for (std::size_t i = 0; i < stride; ++i) codes[i] = node.codes[feature * stride + i];
        for (std::size_t first = 0; first < n; first += lanes) {
            const Doubles<lanes> own = load<double, lanes>(codes + first);
            Doubles<lanes> side[C]{}, weight{}, taken{};
            for (std::size_t i = 0; i < n; ++i) {
                const Longs joins = codes[i] <= own;
                taken = joins ? taken + 1.0 : taken;
                weight = joins ? weight + node.weights[i] : weight;
                for (int c = 0; c < C; ++c) side[c] = joins ? side[c] + node.z[i * C + c] : side[c];
            }
            Doubles<lanes> inside{}, outside{};
            for (int c = 0; c < C; ++c) {
                const Doubles<lanes> rest = node.total[c] - side[c];
                inside += side[c] * side[c];
                outside += rest * rest;
            }
            const Doubles<lanes> other = limits.weight - weight;
            const Doubles<lanes> numerator = inside * other + outside * weight;
            const Doubles<lanes> denominator = weight * other;
            const Longs is_valid = (taken >= least) & (taken <= most) &
                                   (weight >= limits.min_weight) & (other >= limits.min_weight);
            // Of equal cuts of a feature the first in the order of codes wins, whatever the order
            // of the rows.
            const Doubles<lanes> score_here = numerator * cut.score.denominator;
            const Doubles<lanes> score_there = cut.score.numerator * denominator;
            const bool has_lead = cut.n_taken > 0 && cut.feature == feature;
            const Longs is_better =
                is_valid & (has_lead ? score_here >= score_there : score_here > score_there);
            if (!any(is_better)) continue;
            for (std::size_t lane = 0; lane < lanes && first + lane < n; ++lane) {
                if (!is_valid[lane]) continue;
                const Score score{numerator[lane], denominator[lane]};
                const bool is_earlier = cut.n_taken > 0 && cut.feature == feature &&
                                        codes[first + lane] < codes[cut.row] &&
                                        !(cut.score > score);
                if (is_earlier || score > cut.score)
                    cut = {score, static_cast<std::size_t>(taken[lane]), weight[lane], feature,
                           first + lane};
            }
        }
    }
    return cut;
}

}  // namespace

SmallCut scan_small(const SmallNode& node, const Limits& limits, const Score& best) {
    static_assert(most_components == 8);
    switch (node.n_components) {
        case 1:
            return scan<1>(node, limits, best);
        case 2:
            return scan<2>(node, limits, best);
        case 3:
            return scan<3>(node, limits, best);
        case 4:
            return scan<4>(node, limits, best);
        case 5:
            return scan<5>(node, limits, best);
        case 6:
            return scan<6>(node, limits, best);
        case 7:
            return scan<7>(node, limits, best);
        default:
            return scan<8>(node, limits, best);
    }
}

}  // namespace sketchforest::LEVEL
