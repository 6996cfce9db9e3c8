// Compiled once for each instruction set, with KERNELS naming the table it fills.
#include "kernels.hpp"

#include <cstring>

namespace sketchforest {
namespace {

// L doubles that are added as one. The number of lanes is part of the result (sums depend on their
// order), so it is the same on every machine.
template <class T, int L>
struct Lanes {
    typedef T type __attribute__((vector_size(L * sizeof(T))));
};
template <class T>
struct Lanes<T, 1> {
    typedef T type;
};
template <int L>
using Doubles = typename Lanes<double, L>::type;

template <class T, int L>
inline typename Lanes<T, L>::type load(const T* from) {
    typename Lanes<T, L>::type lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

template <class T, int L>
inline Doubles<L> widen(const T* from) {
    if constexpr (L == 1)
        return static_cast<double>(*from);
    else
        return __builtin_convertvector((load<T, L>(from)), Doubles<L>);
}

// The sums of two vectors, made together: a pair of half-way sums costs what one does.
struct Pair {
    double a, b;
};
inline Pair sums(Doubles<1> a, Doubles<1> b) {
    return {a, b};
}
inline Pair sums(Doubles<4> a, Doubles<4> b) {
    const Doubles<4> pairs =
        __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
    return {pairs[0] + pairs[2], pairs[1] + pairs[3]};
}
inline Pair sums(Doubles<8> a, Doubles<8> b) {
    const Doubles<8> pairs = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
                             __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    const Doubles<4> quarter = __builtin_shufflevector(pairs, pairs, 0, 1, 2, 3) +
                               __builtin_shufflevector(pairs, pairs, 4, 5, 6, 7);
    return {quarter[0] + quarter[2], quarter[1] + quarter[3]};
}

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

    Cut cut{best, 0};
    double weight = 0;
    const Entry* entries = scan.entries;
    const std::size_t n = scan.n_entries;
    const std::size_t most = limits.n_rows - limits.min_rows;  // rows that side A may have
    for (std::size_t i = 0; i < n; ++i) {
        const std::uint32_t row = entries[i].row;
        const double w = node.weights[row];
        const T* z_row = z + row * stride;
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
        if (score > cut.score) cut = {score, taken};
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
            const T* row = z + rows[i] * stride + first;
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

template <int L, int V>
void project(const Projection& job) {
    using Floats = typename Lanes<float, L>::type;
    const std::size_t stride = job.stride;
    for (std::size_t first = 0; first < stride; first += V * L) {
        const std::size_t n = (stride - first) / L < V ? (stride - first) / L : V;
        for (std::size_t i = 0; i < job.n_rows; ++i) {
            const std::int64_t row = job.rows[i];
            Floats sums[V]{};
            for (std::int64_t at = job.row_start[row]; at < job.row_start[row + 1]; ++at) {
                const float* p = job.p + job.columns[at] * stride + first;
                const float value = job.values ? job.values[at] : 1.0f;
                if (n == V)
                    for (std::size_t v = 0; v < V; ++v)
                        sums[v] += value * load<float, L>(p + v * L);
                else
                    for (std::size_t v = 0; v < n; ++v)
                        sums[v] += value * load<float, L>(p + v * L);
            }
            std::memcpy(job.z + i * stride + first, sums, n * sizeof(Floats));
        }
    }
}

void project_any(const Projection& job) {
    switch (job.stride) {
        case 1:
            return project<1, 1>(job);
        case 4:
            return project<4, 1>(job);
        case 8:
            return project<8, 1>(job);
        case 16:
            return project<8, 2>(job);
        default:
            return project<8, 4>(job);
    }
}

// The place of an entry is the number of smaller ones. Counting them takes n^2 comparisons, but
// sixteen at a time, and not one of them is a branch.
void rank_sort(Entry* entries, std::size_t n, std::uint32_t lowest) {
    constexpr int lanes = 16;
    constexpr int place_bits = 6;
    static_assert(most_ranked == 1 << place_bits && ranked_range << place_bits == 1u << 31);
    using Ints = typename Lanes<std::int32_t, lanes>::type;
    alignas(64) std::int32_t keys[most_ranked];
    alignas(64) std::int32_t ranks[most_ranked];
    Entry copy[most_ranked];
    const std::size_t n_vectors = (n + lanes - 1) / lanes;
    for (std::size_t i = 0; i < n; ++i) {
        copy[i] = entries[i];
        // The place makes keys distinct, so that no two entries have the same rank.
        keys[i] = static_cast<std::int32_t>((entries[i].code - lowest) << place_bits | i);
    }
    for (std::size_t i = n; i < n_vectors * lanes; ++i) keys[i] = 0;
    for (std::size_t v = 0; v < n_vectors; ++v) {
        const Ints these = load<std::int32_t, lanes>(keys + v * lanes);
        Ints count{};
        for (std::size_t i = 0; i < n; ++i) count -= these > keys[i];
        std::memcpy(ranks + v * lanes, &count, sizeof count);
    }
    for (std::size_t i = 0; i < n; ++i) entries[ranks[i]] = copy[i];
}

}  // namespace

extern const Kernels KERNELS;
const Kernels KERNELS = {scan_any<float>, scan_any<double>, sum_any<float>,
                         sum_any<double>, project_any,      rank_sort};

}  // namespace sketchforest
