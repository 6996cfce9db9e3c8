// The rows of one tree, drawn.
#pragma once

#include <cstdint>
#include <vector>

namespace sketchforest {

struct DrawnRows {
    std::vector<std::int32_t> rows;  // those that were drawn, ascending
    std::vector<std::uint32_t> counts;
};

// `n_draws` of rows 0, 1, ..., n_rows - 1, with replacement, from the stream of the key.
DrawnRows draw_with_replacement(std::uint64_t key, std::uint32_t n_rows, std::uint64_t n_draws);

}  // namespace sketchforest
