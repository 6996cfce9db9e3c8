// The vector kernels: one set per instruction set, chosen when the library is loaded. All sets give
// bit-identical results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sketchforest {

// A row of the node, and the code of its value in the current feature.
struct Entry {
    std::uint32_t code;
    std::uint32_t row;
};

// What a split must satisfy.
struct Limits {
    std::size_t n_rows;    // of the node
    double weight;         // of the node
    std::size_t min_rows;  // of a child
    double min_weight;     // of a child
};

// Entries in the order in which they join side A. A cut is scored after each run of equal codes,
// while rows are left for the other side. The first `n_prefix` entries (rows with a missing value)
// join before any cut; with `score_prefix`, the cut after them is scored, too.
struct Scan {
    const Entry* entries;
    std::size_t n_entries;  // prefix included
    std::size_t n_prefix;
    bool score_prefix;
    std::size_t n_before =
        0;  // rows that are on side A already, of a node that is scanned in pieces
};

// Whether there is a cut after entry i, where there is no prefix, or one that is scored: its codes
// are equal.
inline bool is_cut(const Scan& scan, const Limits& limits, std::size_t i) {
    return i + 1 >= limits.min_rows &&
           (i + 1 == scan.n_entries || scan.entries[i + 1].code != scan.entries[i].code);
}

// |S_A|^2 / w_A + |S_B|^2 / w_B as a fraction, compared by cross-multiplication. A division per cut
// would take longer than everything else. Two cuts with the same sides have equal scores, to the
// last bit, so the first of them wins.
struct Score {
    double numerator = -std::numeric_limits<double>::infinity();
    double denominator = 1;

    static Score of(double a_squares, double a_weight, double b_squares, double b_weight) {
        return {a_squares * b_weight + b_squares * a_weight, a_weight * b_weight};
    }
    bool operator>(const Score& other) const {
        return numerator * other.denominator > other.numerator * denominator;
    }
    double value() const { return numerator / denominator; }
};

struct SplitPoint {
    Score score;
    std::size_t n_taken;  // entries on side A, prefix included; 0: no cut beat `score`
    double weight;        // of side A
};

struct DenseNode {
    const void* z;          // rows of outputs
    bool wide;              // doubles, else floats
    const double* weights;  // of the rows
    const double* total;    // weighted sum of the node's outputs
    std::size_t stride;
    double* side;                    // scratch of `stride` doubles
    const double* before = nullptr;  // sums of the rows before, not null where there are some
    double weight_before = 0;
};

// A node whose rows of outputs fill one vector of `stride` doubles, 4 or 8. With the terms of each
// row computed beforehand, |S_A|^2 and S.S_A are kept up to date while rows join side A.
struct RowTerms {
    double squares;   // |w z|^2
    double by_total;  // S . w z
    double weight;
};
// The terms of a chunk of cuts, one after the other: |S_A|^2 (or `no_cut`), S . S_A and w_A.
struct CutTerms {
    static constexpr std::size_t capacity = 128;
    static constexpr double no_cut = -std::numeric_limits<double>::infinity();
    alignas(64) double squares[capacity];
    alignas(64) double by_total[capacity];
    alignas(64) double weights[capacity];
};
struct NarrowNode {
    const double* z;  // rows of weighted outputs
    const RowTerms* terms;
    double total_squares;  // |S|^2
    std::size_t stride;
};

// Rows of labels with small whole weights, see CountRows: what is known of a row beforehand, then
// its weight in the places of its labels and zeros elsewhere.
struct CountTerms {
    std::int32_t squares;   // |w y|^2
    std::int32_t by_total;  // S . w y
    std::int32_t weight;
    std::int32_t padding;
};
constexpr std::size_t count_lanes = 16;
struct CountNode {
    const std::uint8_t* rows;
    std::size_t n_vectors;  // of count_lanes places: 1, 3 or 7, with which rows fill cache lines
    double total_squares;   // |S|^2
};

// A node of at most most_small rows and most_components outputs, and the codes of some features of
// its rows: each feature has small_stride(n_rows) of them, in the order of the rows.
constexpr std::size_t most_small = 16;
constexpr std::size_t most_components = 8;
struct SmallNode {
    const double* z;  // weighted outputs, n_components for each row
    const double* weights;
    const double* total;
    std::size_t n_components;
    const std::uint32_t* codes;
    std::size_t n_features;
};
constexpr std::size_t small_stride(std::size_t n_rows) {
    return (n_rows + 7) / 8 * 8;
}

// Rows whose code does not exceed that of `row` are on side A; n_taken = 0: no cut beat `score`.
struct SmallCut {
    Score score;
    std::size_t n_taken;
    double weight;  // of side A
    std::size_t feature;
    std::size_t row;
};

// Rows of a node and their codes of some features, one after the other in each row of the table.
// Adds up, for each feature, the rows whose code does not exceed the feature's cut.
struct CutSums {
    DenseNode node;
    const std::uint32_t* rows;
    std::size_t n_rows;
    const std::uint32_t* table;
    std::size_t table_stride;  // multiple of table_lanes, as is the number of cuts
    const std::uint32_t* cuts;
    double* sums;  // node.stride for each feature
    double* weights;
    double* counts;
};
constexpr std::size_t table_lanes = 8;

// A block of rows of a sparse matrix times a dense one: z = Y[rows] P.
struct Projection {
    const std::int64_t* row_start;
    const std::int32_t* columns;
    const float* values;  // null: ones
    const std::int32_t* rows;
    std::size_t n_rows;
    const float* p;      // n_labels rows of `stride`
    std::size_t stride;  // multiple of 8, or 4 or 1
    float* z;            // n_rows rows of `stride`
};

constexpr std::size_t most_ranked = 64;

// Some rows of a table of outputs, less their mean.
struct CentreRows {
    const float* z;
    const std::uint32_t* rows;
    std::size_t n_rows;
    std::size_t stride;  // a multiple of 8, as are those below
    const float* weights;
    const float* mean;
    float* out;
};

// Some rows of dense X, padded with zeros.
struct DenseRows {
    const float* values;
    const std::int32_t* rows;
    std::size_t n_rows;
    std::size_t stride;
};

// One step of conjugate gradients, in columns: weights += length step, and where `back` is not null
// gradient -= length (back - mean sums + penalty step).
struct GradientStep {
    const float* step;
    const float* back;
    const float* sums;
    float length, mean, penalty;
    std::size_t n;  // a multiple of 8
    float* weights;
    float* gradient;
};

// ---- boosting

// A row of sketched gradients has its weight, a one that counts it, and its gradients, padded with
// zeros to `stride` numbers, 4 or a multiple of 8. A bin of a histogram is the sum of its rows.
constexpr std::size_t before_gradients = 2;

// Rows of a node, in any order.
struct GradientRows {
    const std::uint32_t* rows;
    std::size_t n_rows;
    const float* gradients;  // in the same order
    std::size_t stride;
};

// The bins of one feature, of which the last holds missing values.
struct BinScan {
    const double* bins;  // `stride` numbers each
    std::size_t n_bins;  // without the last one
    const double* total;
    std::size_t stride;
    double min_rows;  // of a child
    double l2;
    double* left;           // scratch of `stride` numbers, where there are more than 16
    double min_weight = 0;  // of a child
};
// Bins up to `bin` go left. A score of -infinity: there is no cut.
struct BinCut {
    double score = -std::numeric_limits<double>::infinity();
    std::uint32_t bin = 0;
    bool missing_left = false;
};

struct Kernels {
    SplitPoint (*scan_float)(const Scan&, const Limits&, const DenseNode&, const Score& best);
    SplitPoint (*scan_double)(const Scan&, const Limits&, const DenseNode&, const Score& best);
    void (*sum_float)(const void* z, const double* weights, std::size_t stride,
                      const std::uint32_t* rows, std::size_t n_rows, double* total);
    void (*sum_double)(const void* z, const double* weights, std::size_t stride,
                       const std::uint32_t* rows, std::size_t n_rows, double* total);
    // Replaces `cut` by the best of a chunk of cuts, if that is better; the first one takes n_taken
    // entries.
    void (*choose_cut)(CutTerms& terms, std::size_t size, std::size_t n_taken, double total_squares,
                       const Limits&, SplitPoint& cut);
    // Scans without a prefix.
    SplitPoint (*scan_narrow)(const Scan&, const Limits&, const NarrowNode&, const Score& best);
    // Scans whose prefix, if there is one, is scored.
    SplitPoint (*scan_counts)(const Scan&, const Limits&, const CountNode&, const Score& best);
    // Fills both tables of a narrow node, from the outputs, weights and totals of a dense one.
    void (*weigh_float)(const DenseNode&, const std::uint32_t* rows, std::size_t n_rows, double* z,
                        RowTerms* terms);
    void (*weigh_double)(const DenseNode&, const std::uint32_t* rows, std::size_t n_rows, double* z,
                         RowTerms* terms);
    SmallCut (*scan_small)(const SmallNode&, const Limits&, const Score& best);
    void (*sum_cuts_float)(const CutSums&);
    void (*sum_cuts_double)(const CutSums&);
    // The smallest and the largest code of each feature, given those of earlier rows.
    void (*bound_codes)(const std::uint32_t* table, std::size_t n_rows, std::size_t table_stride,
                        std::uint32_t* lowest, std::uint32_t* highest);
    void (*project)(const Projection&);
    // Sorts at most most_ranked entries, whose codes lie between `lowest` and `highest`.
    void (*rank_sort)(Entry* entries, std::size_t n, std::uint32_t lowest, std::uint32_t highest);
    double (*squared_length)(const float* v,
                             std::size_t n);  // n is a multiple of 8, here and below
    // From weighted sums of columns and of their squares to what a column varies, which it writes
    // over the squares: nothing where it is less than the share `rounding` of these. Returns the
    // sum.
    double (*vary)(const float* sums, double weight, double rounding, std::size_t n,
                   float* squares);
    // out = v^2 factors
    void (*scale_squares)(const float* v, const float* factors, std::size_t n, float* out);
    // Returns the squared length of the gradient.
    double (*descend)(const GradientStep&);
    // step = v + factor step
    void (*add_scaled)(const float* v, float factor, std::size_t n, float* step);
    // Returns the weighted sum of squares of what is left.
    double (*centre_rows)(const CentreRows&);
    // out = sum over rows of weight (z . direction) z
    void (*power_step)(const float* z, const float* weights, std::size_t n_rows, std::size_t stride,
                       const float* direction, float* out);
    void (*multiply_rows)(const float* z, std::size_t n_rows, std::size_t stride,
                          const float* direction, float* out);
    // Add to what is there.
    void (*dense_moments)(const DenseRows&, const float* weights, float* sums, float* squares);
    void (*dense_transposed_times)(const DenseRows&, const float* v, float* out);
    void (*dense_times)(const DenseRows&, const float* w, float* out);
    void (*dense_times_and_back)(const DenseRows&, const float* w, const float* weights, float* out,
                                 float* back);
    // Adds rows to the bins of one feature, or of all features of sparse X by their places.
    void (*add_to_bins)(const GradientRows&, const std::uint8_t* bin_of_row, double* histogram);
    void (*add_to_places)(const GradientRows&, const std::int64_t* row_start,
                          const std::uint32_t* places, double* histogram);
    BinCut (*find_bin_cut)(const BinScan&);
    // Gradients and second derivatives of n binary outputs that are absent, and of one group of
    // classes whose class is another one. Both return the loss where `wants_loss`.
    double (*absent_label_gradients)(const float* scores, std::size_t n, float* gradients,
                                     float* hessians, bool wants_loss);
    double (*softmax_gradients)(const float* scores, std::size_t n, float* gradients,
                                float* hessians, bool wants_loss);
    // z = g P, of n rows of `stride` numbers.
    void (*sketch_gradients)(const float* g, std::size_t n, const float* p, std::size_t stride,
                             float* z);
};

const Kernels& kernels();  // those in use, see instruction_sets.hpp

}  // namespace sketchforest
