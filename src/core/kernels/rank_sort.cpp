// Sorting a few entries by counting.
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
// The place of an entry is the number of smaller ones. Counting them takes n^2 comparisons, but
// sixteen at a time, and not one of them is a branch.
void rank_sort(Entry* entries, std::size_t n, std::uint32_t lowest) {
    constexpr int lanes = 16;
    constexpr int place_bits = 6;
    static_assert(most_ranked == 1 << place_bits && ranked_range << place_bits == 1u << 31);
    using Ints = typename Lanes<std::int32_t, lanes>::type;
    alignas(64) std::int32_t keys[most_ranked];
    alignas(64) std::int32_t ranks[most_ranked];
    Entry copy[most_ranked];
    const std::size_t n_vectors = (n + lanes - 1) / lanes;
    for (std::size_t i = 0; i < n; ++i) {
        copy[i] = entries[i];
        // The place makes keys distinct, so that no two entries have the same rank.
        keys[i] = static_cast<std::int32_t>((entries[i].code - lowest) << place_bits | i);
    }
    for (std::size_t i = n; i < n_vectors * lanes; ++i) keys[i] = 0;
    for (std::size_t v = 0; v < n_vectors; ++v) {
        const Ints these = load<std::int32_t, lanes>(keys + v * lanes);
        Ints count{};
        for (std::size_t i = 0; i < n; ++i) count -= these > keys[i];
        std::memcpy(ranks + v * lanes, &count, sizeof count);
    }
    for (std::size_t i = 0; i < n; ++i) entries[ranks[i]] = copy[i];
}

}  // namespace sketchforest::LEVEL
