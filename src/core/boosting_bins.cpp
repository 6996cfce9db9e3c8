#include <algorithm>
#include <stdexcept>

#include "boosting.hpp"

namespace sketchforest {
namespace {

void require(bool holds, const char* reason) {
    if (!holds) throw std::invalid_argument(reason);
}

}  // namespace

std::uint32_t BinnedX::bin(std::size_t row, std::size_t feature) const {
    if (!is_sparse()) return columns[feature * n_rows + row];
    const auto first = static_cast<std::uint32_t>(bin_start[feature]);
    const auto end = static_cast<std::uint32_t>(bin_start[feature + 1]);
    const std::uint32_t* last = places + row_start[row + 1];
    const std::uint32_t* found = std::lower_bound(places + row_start[row], last, first);
    return (found != last && *found < end ? *found : zero_place[feature]) - first;
}

void check(const BinnedX& bins, std::size_t n_places) {
    constexpr std::int64_t most = 256;  // bins are bytes
    require(bins.bin_start[0] == 0, "bins must start at 0");
    for (std::size_t feature = 0; feature < bins.n_features; ++feature) {
        const std::int64_t first = bins.bin_start[feature], end = bins.bin_start[feature + 1];
        require(first + 2 <= end && end <= first + most,
                "a feature must have 1 to 255 bins, and one more");
        if (bins.is_sparse()) {
            const std::int64_t zero = bins.zero_place[feature];
            require(first <= zero && zero < end, "a zero lies in no bin");
        } else {
            const std::uint8_t* column = bins.columns + feature * bins.n_rows;
            const std::uint8_t largest = *std::max_element(column, column + bins.n_rows);
            require(largest < end - first, "a value lies in no bin");
        }
    }
    if (!bins.is_sparse()) return;
    require(bins.row_start[0] == 0, "rows must start at 0");
    const std::int64_t n_bins = bins.bin_start[bins.n_features];
    for (std::size_t row = 0; row < bins.n_rows; ++row) {
        const std::int64_t first = bins.row_start[row], end = bins.row_start[row + 1];
        require(first <= end && end <= static_cast<std::int64_t>(n_places), "rows do not add up");
        for (std::int64_t at = first; at < end; ++at)
            require(
                bins.places[at] < n_bins && (at == first || bins.places[at - 1] < bins.places[at]),
                "a value lies in no bin");
    }
    require(bins.row_start[bins.n_rows] == static_cast<std::int64_t>(n_places),
            "rows do not add up");
}

}  // namespace sketchforest
