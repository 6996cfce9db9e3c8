// Compiled once for each instruction set, with KERNELS naming the table it fills.
#include "kernels.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

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

inline bool any(typename Lanes<std::int64_t, 8>::type lanes) {
    const auto halves = __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3) |
                        __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7);
    return (halves[0] | halves[1] | halves[2] | halves[3]) != 0;
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

    Cut cut{best, 0, 0};
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

inline double sum(Doubles<4> lanes) {
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}
inline double sum(Doubles<8> lanes) {
    return sum(Doubles<4>(__builtin_shufflevector(lanes, lanes, 0, 1, 2, 3) +
                          __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7)));
}

template <class T, int L>
void weigh(const DenseNode& node, const std::uint32_t* rows, std::size_t n_rows, double* weighted,
           RowTerms* terms) {
    const T* z = static_cast<const T*>(node.z);
    const Doubles<L> total = load<double, L>(node.total);
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint32_t row = rows[i];
        const double weight = node.weights[row];
        const Doubles<L> outputs = weight * widen<T, L>(z + row * L);
        std::memcpy(weighted + row * L, &outputs, sizeof outputs);
        const Pair products = sums(outputs * outputs, outputs * total);
        terms[row] = {products.a, products.b, weight};
    }
}
template <class T>
void weigh_any(const DenseNode& node, const std::uint32_t* rows, std::size_t n_rows,
               double* weighted, RowTerms* terms) {
    node.stride == 4 ? weigh<T, 4>(node, rows, n_rows, weighted, terms)
                     : weigh<T, 8>(node, rows, n_rows, weighted, terms);
}

void choose_cut(CutTerms& terms, std::size_t size, std::size_t n_taken, double total_squares,
                const Limits& limits, Cut& cut) {
    constexpr int lanes = 8;
    using Longs = typename Lanes<std::int64_t, lanes>::type;
    for (std::size_t i = size; i % lanes; ++i) {
        terms.squares[i] = CutTerms::no_cut;
        terms.by_total[i] = terms.weights[i] = 0;
    }
    for (std::size_t i = 0; i < size; i += lanes) {
        const auto a_squares = load<double, lanes>(terms.squares + i);
        const auto a_weight = load<double, lanes>(terms.weights + i);
        const auto b_squares =
            total_squares - 2 * load<double, lanes>(terms.by_total + i) + a_squares;
        const Doubles<lanes> b_weight = limits.weight - a_weight;
        const Doubles<lanes> numerator = a_squares * b_weight + b_squares * a_weight;
        const Doubles<lanes> denominator = a_weight * b_weight;
        const Longs is_valid = (a_weight >= limits.min_weight) & (b_weight >= limits.min_weight);
        const Longs is_better =
            is_valid & (numerator * cut.score.denominator > cut.score.numerator * denominator);
        if (!any(is_better)) continue;
        for (int lane = 0; lane < lanes; ++lane) {
            const Score score{numerator[lane], denominator[lane]};
            if (is_valid[lane] && score > cut.score)
                cut = {score, n_taken + i + lane, a_weight[lane]};
        }
    }
}

// By chunks: first what the cuts are made of, one after the other, then the scores, side by side.
template <int L>
Cut scan_narrow(const Scan& scan, const Limits& limits, const NarrowNode& node, const Score& best) {
    Cut cut{best, 0, 0};
    Doubles<L> side{};
    double squares = 0, by_total = 0, weight = 0;
    CutTerms chunk;
    // Side B gets min_rows rows.
    const std::size_t n = std::min(scan.n_entries, limits.n_rows - limits.min_rows);
    for (std::size_t first = 0; first < n; first += CutTerms::capacity) {
        const std::size_t size = std::min(n - first, CutTerms::capacity);
        for (std::size_t i = 0; i < size; ++i) {
            const Entry* entry = scan.entries + first + i;
            const Doubles<L> z = load<double, L>(node.z + entry->row * L);
            const RowTerms& terms = node.terms[entry->row];
            squares += 2 * sum(Doubles<L>(side * z)) + terms.squares;
            by_total += terms.by_total;
            weight += terms.weight;
            side += z;
            chunk.squares[i] = is_cut(scan, limits, first + i) ? squares : CutTerms::no_cut;
            chunk.by_total[i] = by_total;
            chunk.weights[i] = weight;
        }
        choose_cut(chunk, size, first + 1, node.total_squares, limits, cut);
    }
    return cut;
}
Cut scan_narrow_any(const Scan& scan, const Limits& limits, const NarrowNode& node,
                    const Score& best) {
    return node.stride == 4 ? scan_narrow<4>(scan, limits, node, best)
                            : scan_narrow<8>(scan, limits, node, best);
}

// One lane for each row: the cut after its code. Which rows are on side A is a comparison and not
// an order, so that nothing is sorted, and there is no branch that could be mispredicted.
template <int C>
SmallCut scan_small(const SmallNode& node, const Limits& limits, const Score& best) {
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

SmallCut scan_small_any(const SmallNode& node, const Limits& limits, const Score& best) {
    static_assert(most_components == 8);
    switch (node.n_components) {
        case 1:
            return scan_small<1>(node, limits, best);
        case 2:
            return scan_small<2>(node, limits, best);
        case 3:
            return scan_small<3>(node, limits, best);
        case 4:
            return scan_small<4>(node, limits, best);
        case 5:
            return scan_small<5>(node, limits, best);
        case 6:
            return scan_small<6>(node, limits, best);
        case 7:
            return scan_small<7>(node, limits, best);
        default:
            return scan_small<8>(node, limits, best);
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

// A row is read once for all features of a group, whose sums stay in registers. A row that does not
// join is added as zero: which ones join is hard to predict.
template <class T, int L>
void sum_cuts(const CutSums& job) {
    constexpr int lanes = table_lanes;
    using Codes = typename Lanes<std::uint32_t, lanes>::type;
    using Longs = typename Lanes<std::int64_t, lanes>::type;
    using Bits = typename Lanes<std::int64_t, L>::type;
    const std::size_t stride = job.node.stride;
    const T* z = static_cast<const T*>(job.node.z);
    for (std::size_t group = 0; group < job.table_stride; group += lanes) {
        const Codes cuts = load<std::uint32_t, lanes>(job.cuts + group);
        for (std::size_t at = 0; at < stride; at += L) {
            Doubles<L> sums[lanes]{};
            Doubles<lanes> weights{}, counts{};
            for (std::size_t i = 0; i < job.n_rows; ++i) {
                const std::uint32_t row = job.rows[i];
                const Codes codes =
                    load<std::uint32_t, lanes>(job.table + i * job.table_stride + group);
                const Longs joins = __builtin_convertvector(codes <= cuts, Longs);
                const double weight = job.node.weights[row];
                const Doubles<L> outputs = weight * widen<T, L>(z + row * stride + at);
                for (int f = 0; f < lanes; ++f) {
                    if constexpr (L == 1)
                        sums[f] += joins[f] ? outputs : 0.0;
                    else
                        sums[f] += (Doubles<L>)((Bits)outputs & joins[f]);
                }
                if (at == 0) {
                    weights += joins ? Doubles<lanes>{} + weight : Doubles<lanes>{};
                    counts -= __builtin_convertvector(joins, Doubles<lanes>);
                }
            }
            for (int f = 0; f < lanes; ++f) {
                double* to = job.sums + (group + f) * stride + at;
                const Doubles<L> sum = widen<double, L>(to) + sums[f];
                std::memcpy(to, &sum, sizeof sum);
                if (at > 0) continue;
                job.weights[group + f] += weights[f];
                job.counts[group + f] += counts[f];
            }
        }
    }
}
template <class T>
void sum_cuts_any(const CutSums& job) {
    if (job.node.stride == 1)
        sum_cuts<T, 1>(job);
    else if (job.node.stride == 4)
        sum_cuts<T, 4>(job);
    else
        sum_cuts<T, 8>(job);
}

void bound_codes(const std::uint32_t* table, std::size_t n_rows, std::size_t table_stride,
                 std::uint32_t* lowest, std::uint32_t* highest) {
    constexpr int lanes = table_lanes;
    using Codes = typename Lanes<std::uint32_t, lanes>::type;
    for (std::size_t group = 0; group < table_stride; group += lanes) {
        Codes low = load<std::uint32_t, lanes>(lowest + group);
        Codes high = load<std::uint32_t, lanes>(highest + group);
        for (std::size_t i = 0; i < n_rows; ++i) {
            const Codes codes = load<std::uint32_t, lanes>(table + i * table_stride + group);
            low = codes < low ? codes : low;
            high = codes > high ? codes : high;
        }
        std::memcpy(lowest + group, &low, sizeof low);
        std::memcpy(highest + group, &high, sizeof high);
    }
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
const Kernels KERNELS = {
    .scan_float = scan_any<float>,
    .scan_double = scan_any<double>,
    .sum_float = sum_any<float>,
    .sum_double = sum_any<double>,
    .choose_cut = choose_cut,
    .scan_narrow = scan_narrow_any,
    .weigh_float = weigh_any<float>,
    .weigh_double = weigh_any<double>,
    .scan_small = scan_small_any,
    .sum_cuts_float = sum_cuts_any<float>,
    .sum_cuts_double = sum_cuts_any<double>,
    .bound_codes = bound_codes,
    .project = project_any,
    .rank_sort = rank_sort,
};

}  // namespace sketchforest
