// Dense features as oblique trees read them: binned, with the mean rank of each bin as its value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data.hpp"

namespace sketchforest {

// Feature j has the bins [bin_start[j], bin_start[j + 1]). A value falls into the first bin whose
// bound it does not exceed, or into the last one, whose bound is not read.
struct Bins {
    std::size_t n_features;
    const std::int64_t* bin_start;
    const double* bounds;
    const float* values;
};

// At most `most` bins per feature, from dense codes by rank. The value of a bin is the mean rank of
// its values, in [-1/2, 1/2]. A feature without values has one bin, with the value 0.
struct LearnedBins {
    std::vector<std::int64_t> bin_start{0};
    std::vector<double> bounds;
    std::vector<float> values;
};
LearnedBins learn_bins(const Codes& codes, std::size_t most);

// Strides of x are counted in elements; out has `stride` floats per row. A missing value gets 0,
// the middle of the ranks.
template <class T>
void apply_bins(const Bins& table, const T* x, std::int64_t row_stride, std::int64_t column_stride,
                std::size_t n_rows, float* out, std::size_t stride);

}  // namespace sketchforest
