// Outputs in rows of any width: scores of all cuts of a feature, and sums of rows.
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

// V: how many vectors make a row, where that is known when compiling, so that the side's sum stays
// in registers; 0 where it is not.
template <class T, int L, int V>
Cut scan(const Scan& scan, const Limits& limits, const DenseNode& node, const Score& best) {
    const T* z = static_cast<const T*>(node.z);
    const std::size_t n_vectors = V ? V : node.stride / L;
    const std::size_t stride = n_vectors * L;
    Doubles<L> fixed[V ? V : 1];
    Doubles<L>* side = fixed;
    if constexpr (V == 0) side = reinterpret_cast<Doubles<L>*>(node.side);
    for (std::size_t v = 0; v < n_vectors; ++v) side[v] = Doubles<L>{};

    Cut cut{best, 0, 0};
    double weight = 0;
    const Entry* entries = scan.entries;
    const std::size_t n = scan.n_entries;
    const std::size_t most = limits.n_rows - limits.min_rows;  // rows that side A may have
    constexpr std::size_t ahead = 8;
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t row = entries[i].row;
        // Rows lie far apart in a large node, and are known long before their turn.
        if (i + ahead < n) {
            const T* next = row_at(z, entries[i + ahead].row, stride);
            for (std::size_t at = 0; at < stride * sizeof(T); at += 64)
                __builtin_prefetch(reinterpret_cast<const char*>(next) + at);
        }
        const double w = node.weights[row];
        const T* z_row = row_at(z, row, stride);
        weight += w;
        for (std::size_t v = 0; v < n_vectors; ++v) side[v] += w * widen<T, L>(z_row + v * L);

        const std::size_t taken = i + 1;
        if (taken < scan.n_prefix || (taken == scan.n_prefix && !scan.score_prefix)) continue;
        if (taken > scan.n_prefix && taken < n && entries[taken].code == entries[i].code) continue;
        if (taken < limits.min_rows) continue;
        if (taken > most) break;
        const double other = limits.weight - weight;
        if (weight < limits.min_weight || other < limits.min_weight) continue;

        Doubles<L> inside{}, outside{};
        for (std::size_t v = 0; v < n_vectors; ++v) {
            const Doubles<L> rest = widen<double, L>(node.total + v * L) - side[v];
            inside += side[v] * side[v];
            outside += rest * rest;
        }
        const Pair squares = sums(inside, outside);
        const Score score = Score::of(squares.a, weight, squares.b, other);
        if (score > cut.score) cut = {score, taken, weight};
    }
    return cut;
}

template <class T>
Cut scan_any(const Scan& request, const Limits& limits, const DenseNode& node, const Score& best) {
    switch (node.stride) {
        case 1:
            return scan<T, 1, 1>(request, limits, node, best);
        case 4:
            return scan<T, 4, 1>(request, limits, node, best);
        case 8:
            return scan<T, 8, 1>(request, limits, node, best);
        case 16:
            return scan<T, 8, 2>(request, limits, node, best);
        case 24:
            return scan<T, 8, 3>(request, limits, node, best);
        case 32:
            return scan<T, 8, 4>(request, limits, node, best);
        default:
            return scan<T, 8, 0>(request, limits, node, best);
    }
}

template <class T, int L>
void sum_rows(const T* z, const double* weights, std::size_t stride, const std::uint32_t* rows,
              std::size_t n_rows, double* total) {
    // By blocks of eight vectors, so that a block's sums stay in registers.
    constexpr std::size_t block = 8;
    for (std::size_t first = 0; first < stride; first += block * L) {
        const std::size_t n = (stride - first) / L < block ? (stride - first) / L : block;
        Doubles<L> sums[block]{};
        for (std::size_t i = 0; i < n_rows; ++i) {
            const double w = weights[rows[i]];
            const T* row = row_at(z, rows[i], stride) + first;
            for (std::size_t v = 0; v < n; ++v) sums[v] += w * widen<T, L>(row + v * L);
        }
        std::memcpy(total + first, sums, n * sizeof(Doubles<L>));
    }
}

template <class T>
void sum_any(const void* z, const double* weights, std::size_t stride, const std::uint32_t* rows,
             std::size_t n_rows, double* total) {
    const T* from = static_cast<const T*>(z);
    if (stride == 1)
        sum_rows<T, 1>(from, weights, stride, rows, n_rows, total);
    else if (stride == 4)
        sum_rows<T, 4>(from, weights, stride, rows, n_rows, total);
    else
        sum_rows<T, 8>(from, weights, stride, rows, n_rows, total);
}

}  // namespace

Cut scan_float(const Scan& scan, const Limits& limits, const DenseNode& node, const Score& best) {
    return scan_any<float>(scan, limits, node, best);
}
Cut scan_double(const Scan& scan, const Limits& limits, const DenseNode& node, const Score& best) {
    return scan_any<double>(scan, limits, node, best);
}

void sum_float(const void* z, const double* weights, std::size_t stride, const std::uint32_t* rows,
               std::size_t n_rows, double* total) {
    sum_any<float>(z, weights, stride, rows, n_rows, total);
}
void sum_double(const void* z, const double* weights, std::size_t stride, const std::uint32_t* rows,
                std::size_t n_rows, double* total) {
    sum_any<double>(z, weights, stride, rows, n_rows, total);
}

}  // namespace sketchforest::LEVEL
