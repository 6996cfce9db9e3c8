// Outputs in rows of any width: scores of all cuts of a feature, and sums of rows.
#include "kernels/cuts.hpp"
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

// Cuts that wait for their scores: eight are scored in the time of two or three.
template <int L>
class WaitingCuts {
  public:
    WaitingCuts(const Limits& limits, const Score& best) : limits_(limits), best_(limits, best) {}

    // |S_A|^2 and |S_B|^2 are the sums of two vectors.
    void push(Doubles<L> a_squares, Doubles<L> b_squares, std::size_t n_taken, double weight) {
        a_squares_[size_] = a_squares;
        b_squares_[size_] = b_squares;
        n_taken_[size_] = static_cast<double>(n_taken);
        weights_[size_] = weight;
        if (++size_ == cut_lanes) score();
    }

    SplitPoint find_best() {
        if (size_ > few) {
            for (; size_ < cut_lanes; ++size_) {  // of no weight: never better
                a_squares_[size_] = b_squares_[size_] = Doubles<L>{};
                n_taken_[size_] = weights_[size_] = 0;
            }
            score();
        }
        SplitPoint cut = best_.find();
        for (int i = 0; i < size_; ++i)
            consider_next(cut, limits_, sums(a_squares_[i], b_squares_[i]), weights_[i],
                          static_cast<std::size_t>(n_taken_[i]));
        return cut;
    }

  private:
    static constexpr int few = 2;  // a binary feature has one cut

    void score() {
        best_.consider({sums_of_eight(a_squares_), sums_of_eight(b_squares_),
                        load<double, cut_lanes>(weights_), load<double, cut_lanes>(n_taken_)});
        size_ = 0;
    }

    const Limits& limits_;
    BestCut best_;
    int size_ = 0;
    Doubles<L> a_squares_[cut_lanes], b_squares_[cut_lanes];
    double weights_[cut_lanes], n_taken_[cut_lanes];
};

// One output: its square is no sum, and there is nothing to wait for.
template <>
class WaitingCuts<1> {
  public:
    WaitingCuts(const Limits& limits, const Score& best) : limits_(limits), cut_{best, 0, 0} {}

    void push(double a_squares, double b_squares, std::size_t n_taken, double weight) {
        consider_next(cut_, limits_, {a_squares, b_squares}, weight, n_taken);
    }

    SplitPoint find_best() const { return cut_; }

  private:
    const Limits& limits_;
    SplitPoint cut_;
};

// V: how many vectors make a row, if known at compile time, so that the side's sum stays in
// registers; otherwise 0.
template <class T, int L, int V>
SplitPoint scan(const Scan& scan, const Limits& limits, const DenseNode& node, const Score& best) {
    const T* z = static_cast<const T*>(node.z);
    const std::size_t n_vectors = V ? V : node.stride / L;
    const std::size_t stride = n_vectors * L;
    Doubles<L> fixed[V ? V : 1];
    Doubles<L>* side = fixed;
    if constexpr (V == 0) side = reinterpret_cast<Doubles<L>*>(node.side);
    for (std::size_t v = 0; v < n_vectors; ++v) side[v] = Doubles<L>{};
    if (node.before)
        for (std::size_t v = 0; v < n_vectors; ++v) side[v] = widen<double, L>(node.before + v * L);

    WaitingCuts<L> cuts(limits, best);
    double weight = node.weight_before;
    const Entry* entries = scan.entries;
    const std::size_t n = scan.n_entries;
    // Of these entries, how many side A has in the first and in the last cut.
    const std::size_t before = scan.n_before, most = limits.n_rows - limits.min_rows;
    const std::size_t least = limits.min_rows > before ? limits.min_rows - before : 0;
    const std::size_t prefix = scan.n_prefix, beyond = prefix + (scan.score_prefix ? 0 : 1);
    const std::size_t first = least > beyond ? least : beyond;
    const std::size_t last = most > before ? smaller(n, most - before) : 0;
    constexpr std::size_t ahead = 8;
    for (std::size_t i = 0; i < last; ++i) {
        const std::uint32_t row = entries[i].row;
        // Rows lie far apart in a large node, so the next ones are prefetched.
        if (i + ahead < n) {
            const T* fetched = row_at(z, entries[i + ahead].row, stride);
            for (std::size_t at = 0; at < stride * sizeof(T); at += 64)
                __builtin_prefetch(reinterpret_cast<const char*>(fetched) + at);
        }
        const double w = node.weights[row];
        const T* z_row = row_at(z, row, stride);
        weight += w;
        for (std::size_t v = 0; v < n_vectors; ++v) side[v] += w * widen<T, L>(z_row + v * L);

        const std::size_t next = i + 1;
        if (next < first) continue;
        if (next > prefix && next < n && entries[next].code == entries[i].code) continue;
        Doubles<L> inside{}, outside{};
        for (std::size_t v = 0; v < n_vectors; ++v) {
            const Doubles<L> rest = widen<double, L>(node.total + v * L) - side[v];
            inside += side[v] * side[v];
            outside += rest * rest;
        }
        cuts.push(inside, outside, before + next, weight);
    }
    return cuts.find_best();
}

template <class T>
SplitPoint scan_any(const Scan& request, const Limits& limits, const DenseNode& node,
                    const Score& best) {
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

SplitPoint scan_float(const Scan& scan, const Limits& limits, const DenseNode& node,
                      const Score& best) {
    return scan_any<float>(scan, limits, node, best);
}
SplitPoint scan_double(const Scan& scan, const Limits& limits, const DenseNode& node,
                       const Score& best) {
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
