// Sorting a few entries by counting.
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

constexpr int place_bits = 6;
static_assert(most_ranked == 1 << place_bits);

// The place of an entry is the number of smaller ones. Counting them takes n^2 comparisons, but
// many at a time, and not one of them is a branch.
template <class Key, int L>
void sort(Entry* entries, std::size_t n, std::uint32_t lowest) {
    using Keys = typename Lanes<Key, L>::type;
    alignas(64) Key keys[most_ranked];
    alignas(64) Key ranks[most_ranked];
    Entry copy[most_ranked];
    const std::size_t n_vectors = (n + L - 1) / L;
    for (std::size_t i = 0; i < n; ++i) {
        copy[i] = entries[i];
        // The place makes keys distinct, so that no two entries have the same rank.
        keys[i] = static_cast<Key>(entries[i].code - lowest) << place_bits | static_cast<Key>(i);
    }
    for (std::size_t i = n; i < n_vectors * L; ++i) keys[i] = 0;
    for (std::size_t v = 0; v < n_vectors; ++v) {
        const Keys these = load<Key, L>(keys + v * L);
        Keys count{};
        for (std::size_t i = 0; i < n; ++i) count -= these > keys[i];
        std::memcpy(ranks + v * L, &count, sizeof count);
    }
    for (std::size_t i = 0; i < n; ++i) entries[ranks[i]] = copy[i];
}

}  // namespace

void rank_sort(Entry* entries, std::size_t n, std::uint32_t lowest, std::uint32_t highest) {
    if (highest - lowest < 1u << (31 - place_bits))
        sort<std::int32_t, 16>(entries, n, lowest);
    else
        sort<std::int64_t, 8>(entries, n, lowest);
}

}  // namespace sketchforest::LEVEL
