// Dense features as oblique trees see them: by rank, in steps.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sketchforest {

// Feature j has the levels [level_start[j], level_start[j + 1]), and one bound less: a value has
// the level of the first bound that it does not exceed, or the last one.
struct Levels {
    std::size_t n_features;
    const std::int64_t* level_start;
    const double* bounds;  // beside the levels; the one beside a feature's last level is not read
    const float* levels;
};

// Strides of x are counted in elements; out has `stride` floats a row. A missing value has level 0,
// which is the middle of the ranks.
template <class T>
void find_levels(const Levels& table, const T* x, std::int64_t row_stride,
                 std::int64_t column_stride, std::size_t n_rows, float* out, std::size_t stride);

}  // namespace sketchforest
