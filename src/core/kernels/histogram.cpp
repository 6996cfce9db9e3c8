// Histograms of sketched gradients, and the best cut between bins.
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

// V: how many vectors make a row, if known at compile time; otherwise 0.
template <int L, int V>
inline void add_row(const float* row, std::size_t n_vectors, double* bin) {
    for (std::size_t v = 0; v < (V ? V : n_vectors); ++v) {
        const Doubles<L> sum = load<double, L>(bin + v * L) + widen<float, L>(row + v * L);
        std::memcpy(bin + v * L, &sum, sizeof sum);
    }
}

template <int L, int V>
void add_column(const GradientRows& node, const std::uint8_t* bin_of_row, double* histogram) {
    const std::size_t stride = V ? V * L : node.stride;
    constexpr std::size_t ahead = 16;
    for (std::size_t i = 0; i < node.n_rows; ++i) {
        if (i + ahead < node.n_rows) __builtin_prefetch(bin_of_row + node.rows[i + ahead]);
        const std::uint8_t bin = bin_of_row[node.rows[i]];
        add_row<L, V>(node.gradients + i * stride, stride / L, histogram + bin * stride);
    }
}

template <int L, int V>
void add_sparse(const GradientRows& node, const std::int64_t* row_start,
                const std::uint32_t* places, double* histogram) {
    const std::size_t stride = V ? V * L : node.stride;
    for (std::size_t i = 0; i < node.n_rows; ++i) {
        const std::uint32_t row = node.rows[i];
        for (std::int64_t at = row_start[row]; at < row_start[row + 1]; ++at)
            add_row<L, V>(node.gradients + i * stride, stride / L,
                          row_at(histogram, places[at], stride));
    }
}

// Cuts of the known values, with missing ones on the left side or on the right.
template <int L, int V>
void scan_side(const BinScan& scan, bool missing_left, BinCut& best) {
    const std::size_t n_vectors = V ? V : scan.stride / L, stride = n_vectors * L;
    Doubles<L> fixed[V ? V : 1];
    Doubles<L>* left = fixed;
    if constexpr (V == 0) left = reinterpret_cast<Doubles<L>*>(scan.left);
    Doubles<L> gradients_alone;  // of the first vector
    for (int lane = 0; lane < L; ++lane)
        gradients_alone[lane] = lane < static_cast<int>(before_gradients) ? 0.0 : 1.0;
    const double* missing = scan.bins + scan.n_bins * stride;
    for (std::size_t v = 0; v < n_vectors; ++v)
        left[v] = missing_left ? load<double, L>(missing + v * L) : Doubles<L>{};
    for (std::size_t bin = 0; bin < scan.n_bins; ++bin) {
        const double* added = scan.bins + bin * stride;
        if (added[1] == 0) continue;  // no rows: the same sides
        for (std::size_t v = 0; v < n_vectors; ++v) left[v] += load<double, L>(added + v * L);
        const double weight = left[0][0], n_left = left[0][1];
        if (n_left < scan.min_rows) continue;
        if (scan.total[1] - n_left < scan.min_rows) break;
        if (weight < scan.min_weight) continue;
        if (scan.total[0] - weight < scan.min_weight) break;
        const Doubles<L> rest = load<double, L>(scan.total) - left[0];
        Doubles<L> inside = left[0] * left[0] * gradients_alone;
        Doubles<L> outside = rest * rest * gradients_alone;
        for (std::size_t v = 1; v < n_vectors; ++v) {
            const Doubles<L> others = load<double, L>(scan.total + v * L) - left[v];
            inside += left[v] * left[v];
            outside += others * others;
        }
        const Pair squares = sums(inside, outside);
        const double score =
            squares.a / (weight + scan.l2) + squares.b / (scan.total[0] - weight + scan.l2);
        if (score > best.score) best = {score, static_cast<std::uint32_t>(bin), missing_left};
    }
}

template <int L, int V>
BinCut scan_bins(const BinScan& scan) {
    BinCut best;
    scan_side<L, V>(scan, false, best);
    if (scan.bins[scan.n_bins * scan.stride + 1] > 0) scan_side<L, V>(scan, true, best);
    return best;
}

}  // namespace

void add_to_bins(const GradientRows& node, const std::uint8_t* bin_of_row, double* histogram) {
    switch (node.stride) {
        case 4:
            return add_column<4, 1>(node, bin_of_row, histogram);
        case 8:
            return add_column<8, 1>(node, bin_of_row, histogram);
        case 16:
            return add_column<8, 2>(node, bin_of_row, histogram);
        default:
            return add_column<8, 0>(node, bin_of_row, histogram);
    }
}

void add_to_places(const GradientRows& node, const std::int64_t* row_start,
                   const std::uint32_t* places, double* histogram) {
    switch (node.stride) {
        case 4:
            return add_sparse<4, 1>(node, row_start, places, histogram);
        case 8:
            return add_sparse<8, 1>(node, row_start, places, histogram);
        default:
            return add_sparse<8, 0>(node, row_start, places, histogram);
    }
}

BinCut find_bin_cut(const BinScan& scan) {
    switch (scan.stride) {
        case 4:
            return scan_bins<4, 1>(scan);
        case 8:
            return scan_bins<8, 1>(scan);
        case 16:
            return scan_bins<8, 2>(scan);
        default:
            return scan_bins<8, 0>(scan);
    }
}

}  // namespace sketchforest::LEVEL
