// Outputs in rows of one vector: rows are multiplied by their weights once, and each cut costs one
// product of vectors.
#include "kernels/cuts.hpp"
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

template <class T, int L>
void weigh(const DenseNode& node, const std::uint32_t* rows, std::size_t n_rows, double* weighted,
           RowTerms* terms) {
    const T* z = static_cast<const T*>(node.z);
    const Doubles<L> total = load<double, L>(node.total);
    for (std::size_t i = 0; i < n_rows; ++i) {
        const std::uint32_t row = rows[i];
        const double weight = node.weights[row];
        const Doubles<L> outputs = weight * widen<T, L>(row_at(z, row, L));
        std::memcpy(row_at(weighted, row, L), &outputs, sizeof outputs);
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

// By chunks: first what the cuts are made of, one after the other, then the scores, side by side.
template <int L>
SplitPoint scan_rows(const Scan& scan, const Limits& limits, const NarrowNode& node,
                     const Score& best) {
    BestCut best_cut(limits, best);
    Doubles<L> side{};
    double squares = 0, by_total = 0, weight = 0;
    CutTerms chunk;
    // Side B gets min_rows rows.
    const std::size_t n = smaller(scan.n_entries, limits.n_rows - limits.min_rows);
    for (std::size_t first = 0; first < n; first += CutTerms::capacity) {
        const std::size_t size = smaller(n - first, CutTerms::capacity);
        for (std::size_t i = 0; i < size; ++i) {
            const Entry* entry = scan.entries + first + i;
            const Doubles<L> z = load<double, L>(row_at(node.z, entry->row, L));
            const RowTerms& terms = node.terms[entry->row];
            squares += 2 * sum(Doubles<L>(side * z)) + terms.squares;
            by_total += terms.by_total;
            weight += terms.weight;
            side += z;
            chunk.squares[i] = is_cut(scan, limits, first + i) ? squares : CutTerms::no_cut;
            chunk.by_total[i] = by_total;
            chunk.weights[i] = weight;
        }
        consider(chunk, size, first + 1, node.total_squares, best_cut);
    }
    return best_cut.find();
}

}  // namespace

void choose_cut(CutTerms& terms, std::size_t size, std::size_t n_taken, double total_squares,
                const Limits& limits, SplitPoint& cut) {
    BestCut best(limits, cut.score);
    consider(terms, size, n_taken, total_squares, best);
    const SplitPoint found = best.find();
    if (found.n_taken > 0) cut = found;
}

SplitPoint scan_narrow(const Scan& scan, const Limits& limits, const NarrowNode& node,
                       const Score& best) {
    return node.stride == 4 ? scan_rows<4>(scan, limits, node, best)
                            : scan_rows<8>(scan, limits, node, best);
}

void weigh_float(const DenseNode& node, const std::uint32_t* rows, std::size_t n_rows,
                 double* weighted, RowTerms* terms) {
    weigh_any<float>(node, rows, n_rows, weighted, terms);
}
void weigh_double(const DenseNode& node, const std::uint32_t* rows, std::size_t n_rows,
                  double* weighted, RowTerms* terms) {
    weigh_any<double>(node, rows, n_rows, weighted, terms);
}

}  // namespace sketchforest::LEVEL
