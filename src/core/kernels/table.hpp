// The kernels of one instruction set. LEVEL, which the build defines, names the set and is the
// namespace of all that is compiled for it.
#pragma once

#include "kernels.hpp"

namespace sketchforest::LEVEL {

SplitPoint scan_float(const Scan&, const Limits&, const DenseNode&, const Score& best);
SplitPoint scan_double(const Scan&, const Limits&, const DenseNode&, const Score& best);
void sum_float(const void* z, const double* weights, std::size_t stride, const std::uint32_t* rows,
               std::size_t n_rows, double* total);
void sum_double(const void* z, const double* weights, std::size_t stride, const std::uint32_t* rows,
                std::size_t n_rows, double* total);
void choose_cut(CutTerms& terms, std::size_t size, std::size_t n_taken, double total_squares,
                const Limits&, SplitPoint& cut);
SplitPoint scan_narrow(const Scan&, const Limits&, const NarrowNode&, const Score& best);
SplitPoint scan_counts(const Scan&, const Limits&, const CountNode&, const Score& best);
void weigh_float(const DenseNode&, const std::uint32_t* rows, std::size_t n_rows, double* weighted,
                 RowTerms* terms);
void weigh_double(const DenseNode&, const std::uint32_t* rows, std::size_t n_rows, double* weighted,
                  RowTerms* terms);
SmallCut scan_small(const SmallNode&, const Limits&, const Score& best);
void sum_cuts_float(const CutSums&);
void sum_cuts_double(const CutSums&);
void bound_codes(const std::uint32_t* table, std::size_t n_rows, std::size_t table_stride,
                 std::uint32_t* lowest, std::uint32_t* highest);
void project(const Projection&);
void rank_sort(Entry* entries, std::size_t n, std::uint32_t lowest, std::uint32_t highest);
double squared_length(const float* v, std::size_t n);
double vary(const float* sums, double weight, double rounding, std::size_t n, float* squares);
void scale_squares(const float* v, const float* factors, std::size_t n, float* out);
double descend(const GradientStep&);
void add_scaled(const float* v, float factor, std::size_t n, float* step);
double centre_rows(const CentreRows&);
void power_step(const float* z, const float* weights, std::size_t n_rows, std::size_t stride,
                const float* direction, float* out);
void multiply_rows(const float* z, std::size_t n_rows, std::size_t stride, const float* direction,
                   float* out);
void dense_moments(const DenseRows&, const float* weights, float* sums, float* squares);
void dense_transposed_times(const DenseRows&, const float* v, float* out);
void dense_times(const DenseRows&, const float* w, float* out);
void dense_times_and_back(const DenseRows&, const float* w, const float* weights, float* out,
                          float* back);
void add_to_bins(const GradientRows&, const std::uint8_t* bin_of_row, double* histogram);
void add_to_places(const GradientRows&, const std::int64_t* row_start, const std::uint32_t* places,
                   double* histogram);
BinCut find_bin_cut(const BinScan&);
double absent_label_gradients(const float* scores, std::size_t n, float* gradients, float* hessians,
                              bool wants_loss);
double softmax_gradients(const float* scores, std::size_t n, float* gradients, float* hessians,
                         bool wants_loss);
void sketch_gradients(const float* g, std::size_t n, const float* p, std::size_t stride, float* z);

extern const Kernels table;

}  // namespace sketchforest::LEVEL
