#include "levels.hpp"

#include <algorithm>
#include <cmath>

namespace sketchforest {

template <class T>
void find_levels(const Levels& table, const T* x, std::int64_t row_stride,
                 std::int64_t column_stride, std::size_t n_rows, float* out, std::size_t stride) {
    // Some rows at a time, so that what is written stays in the cache from column to column.
    constexpr std::size_t block = 64;
    for (std::size_t first = 0; first < n_rows; first += block) {
        const std::size_t last = std::min(first + block, n_rows);
        for (std::size_t j = 0; j < table.n_features; ++j) {
            const double* begin = table.bounds + table.level_start[j];
            const auto n_levels = table.level_start[j + 1] - table.level_start[j];
            const double* end = begin + std::max<std::int64_t>(n_levels - 1, 0);
            const float* levels = table.levels + table.level_start[j];
            const T* column = x + static_cast<std::int64_t>(j) * column_stride;
            for (std::size_t i = first; i < last; ++i) {
                const T value = column[static_cast<std::int64_t>(i) * row_stride];
                const bool is_known = !std::isnan(value) && n_levels > 0;
                out[i * stride + j] =
                    is_known
                        ? levels[std::lower_bound(begin, end, static_cast<double>(value)) - begin]
                        : 0.0f;
            }
        }
    }
}

template void find_levels(const Levels&, const float*, std::int64_t, std::int64_t, std::size_t,
                          float*, std::size_t);
template void find_levels(const Levels&, const double*, std::int64_t, std::int64_t, std::size_t,
                          float*, std::size_t);

}  // namespace sketchforest
