#include "bag.hpp"

#include "random.hpp"

namespace sketchforest {

DrawnRows draw_with_replacement(std::uint64_t key, std::uint32_t n_rows, std::uint64_t n_draws) {
    std::vector<std::uint32_t> counts(n_rows);
    Stream stream(key);
    for (std::uint64_t i = 0; i < n_draws; ++i) ++counts[stream.below(n_rows)];
    DrawnRows drawn;
    drawn.rows.resize(n_rows);
    drawn.counts.resize(n_rows);
    std::size_t n_drawn = 0;
    for (std::uint32_t row = 0; row < n_rows; ++row) {  // overwritten if it was not drawn
        drawn.rows[n_drawn] = static_cast<std::int32_t>(row);
        drawn.counts[n_drawn] = counts[row];
        n_drawn += counts[row] > 0;
    }
    drawn.rows.resize(n_drawn);
    drawn.counts.resize(n_drawn);
    return drawn;
}

}  // namespace sketchforest
