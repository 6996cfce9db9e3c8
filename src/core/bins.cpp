#include "bins.hpp"

#include <algorithm>
#include <cmath>

namespace sketchforest {
namespace {

// How often each code of a feature occurs.
template <class Code>
std::vector<std::int64_t> count_codes(const Codes& codes, std::size_t feature) {
    std::vector<std::int64_t> counts(codes.missing_code(feature) + std::size_t{1});
    const Code* const column = static_cast<const Code*>(codes.codes) + feature * codes.n_rows;
    for (std::size_t row = 0; row < codes.n_rows; ++row) ++counts[column[row]];
    counts.pop_back();  // missing ones
    return counts;
}

void add_bins(const Codes& codes, std::size_t feature, const std::vector<std::int64_t>& counts,
              std::size_t most, LearnedBins& learned) {
    const auto value = [&](std::size_t i) {
        return codes.value(feature, static_cast<std::uint32_t>(i));
    };
    const std::size_t n = counts.size();
    std::int64_t total = 0, reached = 0;
    for (const std::int64_t count : counts) total += count;
    std::size_t step = 0;
    double size = 0, sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        reached += counts[i];
        const auto count = static_cast<double>(counts[i]);
        const double rank = (static_cast<double>(reached) - count / 2) / static_cast<double>(total);
        const std::size_t own = n > most ? static_cast<std::size_t>(rank * most) : i;
        if (i > 0 && own != step) {
            learned.bounds.push_back(value(i - 1) / 2 + value(i) / 2);
            learned.values.push_back(static_cast<float>(sum / size - 0.5));
            size = sum = 0;
        }
        step = own;
        size += count;
        sum += count * rank;
    }
    learned.bounds.push_back(n ? value(n - 1) / 2 + value(n - 1) / 2 : 0);
    learned.values.push_back(n ? static_cast<float>(sum / size - 0.5) : 0);
    learned.bin_start.push_back(static_cast<std::int64_t>(learned.values.size()));
}

}  // namespace

LearnedBins learn_bins(const Codes& codes, std::size_t most) {
    LearnedBins learned;
    for (std::size_t feature = 0; feature < codes.n_features; ++feature) {
        const auto counts = codes.code_bytes == 1   ? count_codes<std::uint8_t>(codes, feature)
                            : codes.code_bytes == 2 ? count_codes<std::uint16_t>(codes, feature)
                                                    : count_codes<std::uint32_t>(codes, feature);
        add_bins(codes, feature, counts, most, learned);
    }
    return learned;
}

template <class T>
void apply_bins(const Bins& table, const T* x, std::int64_t row_stride, std::int64_t column_stride,
                std::size_t n_rows, float* out, std::size_t stride) {
    // Some rows at a time, so that what is written stays in the cache from column to column.
    constexpr std::size_t block = 64;
    for (std::size_t first = 0; first < n_rows; first += block) {
        const std::size_t last = std::min(first + block, n_rows);
        for (std::size_t j = 0; j < table.n_features; ++j) {
            const double* begin = table.bounds + table.bin_start[j];
            const auto n_bins = table.bin_start[j + 1] - table.bin_start[j];
            const double* end = begin + std::max<std::int64_t>(n_bins - 1, 0);
            const float* bin_values = table.values + table.bin_start[j];
            const T* column = x + static_cast<std::int64_t>(j) * column_stride;
            for (std::size_t i = first; i < last; ++i) {
                const T value = column[static_cast<std::int64_t>(i) * row_stride];
                const bool is_known = !std::isnan(value) && n_bins > 0;
                out[i * stride + j] =
                    is_known ? bin_values[std::lower_bound(begin, end, static_cast<double>(value)) -
                                          begin]
                             : 0.0f;
            }
        }
    }
}

template void apply_bins(const Bins&, const float*, std::int64_t, std::int64_t, std::size_t, float*,
                         std::size_t);
template void apply_bins(const Bins&, const double*, std::int64_t, std::int64_t, std::size_t,
                         float*, std::size_t);

}  // namespace sketchforest
