// The vector kernels, one set for each instruction set, chosen when the library is loaded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace sketchforest {

// A row of the node under search, with the code of its value in the feature under search.
struct Entry {
    std::uint32_t code;
    std::uint32_t row;
};

// What both children of a split must have.
struct Limits {
    std::size_t n_rows;    // of the node
    double weight;         // of the node
    std::size_t min_rows;  // of a child
    double min_weight;     // of a child
};

// Entries in the order in which they join side A. A cut is scored after each run of equal codes,
// as long as rows are left for the other side. The first `n_prefix` entries (rows with a missing
// value) join before any cut; `score_prefix` scores them alone as well.
struct Scan {
    const Entry* entries;
    std::size_t n_entries;  // prefix included
    std::size_t n_prefix;
    bool score_prefix;
};

// |S_A|^2 / w_A + |S_B|^2 / w_B, as a fraction: scores are compared by cross-multiplication. A
// division for each cut would take longer than all the rest, and two cuts that make the same sides
// are equal to the last bit, so that the first of them wins.
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

struct Cut {
    Score score;
    std::size_t n_taken;  // entries on side A, prefix included; 0: no cut beat `score`
};

struct DenseNode {
    const void* z;          // rows of outputs
    const double* weights;  // of the rows
    const double* total;    // weighted sum of the node's outputs
    std::size_t stride;
    double* side;  // scratch of `stride` doubles
};

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
constexpr std::uint32_t ranked_range = 1u << 25;

struct Kernels {
    Cut (*scan_float)(const Scan&, const Limits&, const DenseNode&, const Score& best);
    Cut (*scan_double)(const Scan&, const Limits&, const DenseNode&, const Score& best);
    void (*sum_float)(const void* z, const double* weights, std::size_t stride,
                      const std::uint32_t* rows, std::size_t n_rows, double* total);
    void (*sum_double)(const void* z, const double* weights, std::size_t stride,
                       const std::uint32_t* rows, std::size_t n_rows, double* total);
    void (*project)(const Projection&);
    // Sorts at most most_ranked entries by codes that lie within ranked_range above `lowest`.
    void (*rank_sort)(Entry* entries, std::size_t n, std::uint32_t lowest);
};

const Kernels& kernels();

}  // namespace sketchforest
