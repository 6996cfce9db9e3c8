// Weighted medians of outputs over groups of rows: the predictions of leaves if the criterion is
// the absolute error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace sketchforest {

struct RowGroups {
    std::span<const std::int32_t> rows;   // of the table of outputs
    const double* weights;                // of these rows
    std::span<const std::int64_t> start;  // group i has rows [start[i], start[i + 1])
};

// One row of `out` for each group. Where half of the weight lies up to a value, the median is half
// way to the next.
void weighted_medians(const double* outputs, std::size_t n_outputs, const RowGroups& groups,
                      double* out);

}  // namespace sketchforest
