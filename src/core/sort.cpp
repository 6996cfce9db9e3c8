#include "sort.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace sketchforest {

void EntrySorter::sort(Entry* entries, std::size_t n, std::uint32_t lowest, std::uint32_t highest,
                       bool descending) {
    if (n < 2 || lowest == highest) return;
    if (n <= most_ranked)
        kernels().rank_sort(entries, n, lowest, highest);
    else
        radix_sort(entries, n, lowest, highest);
    if (descending) std::reverse(entries, entries + n);
}

// From the lowest digit up, with as few digits as the range of the codes needs.
void EntrySorter::radix_sort(Entry* entries, std::size_t n, std::uint32_t lowest,
                             std::uint32_t highest) {
    constexpr int most_bits = 8;  // tables of 256 counters stay in the first cache
    const auto range_bits = static_cast<int>(std::bit_width(highest - lowest));
    const int n_digits = (range_bits + most_bits - 1) / most_bits;
    const int bits = (range_bits + n_digits - 1) / n_digits;
    const std::uint32_t mask = (1u << bits) - 1;
    const std::size_t n_values = std::size_t{1} << bits;
    counts_.assign(n_digits * n_values, 0);
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t code = entries[i].code - lowest;
        for (int d = 0; d < n_digits; ++d, code >>= bits) ++counts_[d * n_values + (code & mask)];
    }
    if (scratch_.size() < n) scratch_.resize(n);
    Entry* from = entries;
    Entry* to = scratch_.data();
    for (int d = 0; d < n_digits; ++d) {
        std::uint32_t* at = counts_.data() + d * n_values;
        std::uint32_t start = 0;
        for (std::size_t value = 0; value < n_values; ++value)
            start += std::exchange(at[value], start);
        for (std::size_t i = 0; i < n; ++i)
            to[at[(from[i].code - lowest) >> (d * bits) & mask]++] = from[i];
        std::swap(from, to);
    }
    if (from != entries) std::copy_n(from, n, entries);
}

}  // namespace sketchforest
