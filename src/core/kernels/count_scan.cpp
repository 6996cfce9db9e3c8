// Labels of rows with small whole weights, counted in lanes of 16 bits.
#include "kernels/cuts.hpp"
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

constexpr int lanes = count_lanes;
using Shorts = Lanes<std::int16_t, lanes>::type;
using Ints = Lanes<std::int32_t, lanes / 2>::type;

// Products of lanes, added in pairs.
inline Ints multiply_pairs(Shorts a, Shorts b) {
#if defined(__AVX2__)
    return reinterpret_cast<Ints>(
        _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#elif defined(__SSE2__)
    __m128i x[2], y[2];
    std::memcpy(x, &a, sizeof x);
    std::memcpy(y, &b, sizeof y);
    const __m128i pairs[2]{_mm_madd_epi16(x[0], y[0]), _mm_madd_epi16(x[1], y[1])};
    Ints out;
    std::memcpy(&out, pairs, sizeof out);
    return out;
#else
    Ints out;
    for (int i = 0; i < lanes / 2; ++i)
        out[i] = std::int32_t{a[2 * i]} * b[2 * i] + std::int32_t{a[2 * i + 1]} * b[2 * i + 1];
    return out;
#endif
}

inline Shorts widen_counts(const std::uint8_t* from) {
#if defined(__AVX2__)
    // GCC would convert two halves and join them.
    return reinterpret_cast<Shorts>(
        _mm256_cvtepu8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#else
    return __builtin_convertvector((load<std::uint8_t, lanes>(from)), Shorts);
#endif
}

// A chunk of rows in the order in which they join side A.
struct Chunk {
    Ints products[CutTerms::capacity];  // whose lanes add up to S_A . w y, of S_A before
    std::int32_t before[CutTerms::capacity];
    CountTerms terms[CutTerms::capacity];
    CutTerms cuts;

    void add_up(std::size_t size) {
        for (std::size_t i = size; i % cut_lanes; ++i) products[i] = Ints{};
        for (std::size_t i = 0; i < size; i += cut_lanes) {
            const Ints sums = sums_of_eight(products + i);
            std::memcpy(before + i, &sums, sizeof sums);
        }
    }
};

// By chunks: first the products, whose sums of lanes are made together, then what the cuts are
// made of, one after the other, then the scores, side by side.
template <int V>
SplitPoint scan_rows(const Scan& scan, const Limits& limits, const CountNode& node,
                     const Score& best) {
    constexpr std::size_t row_bytes = sizeof(CountTerms) + V * lanes;
    constexpr std::size_t ahead = 12;
    BestCut best_cut(limits, best);
    Shorts side[V]{};
    double squares = 0, by_total = 0, weight = 0;
    Chunk chunk;
    // Side B gets min_rows rows.
    const std::size_t n = smaller(scan.n_entries, limits.n_rows - limits.min_rows);
    const std::size_t last = scan.n_entries - 1;
    for (std::size_t first = 0; first < n; first += CutTerms::capacity) {
        const std::size_t size = smaller(n - first, CutTerms::capacity);
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint8_t* row = node.rows + scan.entries[first + i].row * row_bytes;
            // Rows lie far apart in a large node, so the next ones are prefetched.
            const std::uint8_t* next =
                node.rows + scan.entries[smaller(first + i + ahead, last)].row * row_bytes;
            for (std::size_t at = 0; at < row_bytes; at += 64) __builtin_prefetch(next + at);
            std::memcpy(&chunk.terms[i], row, sizeof(CountTerms));
            Ints products{};
            for (int v = 0; v < V; ++v) {
                const Shorts counts = widen_counts(row + sizeof(CountTerms) + v * lanes);
                products += multiply_pairs(side[v], counts);
                side[v] += counts;
            }
            chunk.products[i] = products;
        }
        chunk.add_up(size);
        for (std::size_t i = 0; i < size; ++i) {
            const CountTerms& terms = chunk.terms[i];
            squares += 2 * chunk.before[i] + terms.squares;
            by_total += terms.by_total;
            weight += terms.weight;
            chunk.cuts.squares[i] = is_cut(scan, limits, first + i) ? squares : CutTerms::no_cut;
            chunk.cuts.by_total[i] = by_total;
            chunk.cuts.weights[i] = weight;
        }
        consider(chunk.cuts, size, first + 1, node.total_squares, best_cut);
    }
    return best_cut.find();
}

}  // namespace

SplitPoint scan_counts(const Scan& scan, const Limits& limits, const CountNode& node,
                       const Score& best) {
    switch (node.n_vectors) {
        case 1:
            return scan_rows<1>(scan, limits, node, best);
        case 3:
            return scan_rows<3>(scan, limits, node, best);
        default:
            return scan_rows<7>(scan, limits, node, best);
    }
}

}  // namespace sketchforest::LEVEL
