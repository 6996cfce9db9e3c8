// Dense features as oblique trees see them: by rank, in steps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "data.hpp"

namespace sketchforest {

// Feature j has the levels [level_start[j], level_start[j + 1]), and one bound less: a value has
// the level of the first bound that it does not exceed, or the last one.
struct Levels {
    std::size_t n_features;
    const std::int64_t* level_start;
    const double* bounds;  // beside the levels; the one beside a feature's last level is not read
    const float* levels;
};

// From dense codes by rank: at most `most` levels for each feature, each the mean rank in [-1/2,
// 1/2] of its values. A feature without values has one level at 0.
struct LearntLevels {
    std::vector<std::int64_t> level_start{0};
    std::vector<double> bounds;
    std::vector<float> levels;
};
LearntLevels learn_levels(const Codes& codes, std::size_t most);

// Strides of x are counted in elements; out has `stride` floats a row. A missing value has level 0,
// which is the middle of the ranks.
template <class T>
void find_levels(const Levels& table, const T* x, std::int64_t row_stride,
                 std::int64_t column_stride, std::size_t n_rows, float* out, std::size_t stride);

}  // namespace sketchforest
