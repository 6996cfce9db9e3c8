#include "sort.hpp"

#include <algorithm>
#include <bit>

namespace sketchforest {
namespace {

constexpr std::size_t few = 24;  // below this, insertion is fastest

void insertion_sort(Entry* first, Entry* last) {
    for (Entry* at = first + 1; at < last; ++at) {
        const Entry entry = *at;
        Entry* to = at;
        for (; to > first && to[-1].code > entry.code; --to) *to = to[-1];
        *to = entry;
    }
}

void sort_few(Entry* first, Entry* last) {
    if (last - first > static_cast<std::ptrdiff_t>(few))
        std::sort(first, last, [](const Entry& a, const Entry& b) { return a.code < b.code; });
    else
        insertion_sort(first, last);
}

}  // namespace

void EntrySorter::sort(Entry* entries, std::size_t n, std::uint32_t lowest, std::uint32_t highest,
                       bool descending) {
    if (n < 2 || lowest == highest) return;
    if (n <= few)
        insertion_sort(entries, entries + n);
    else
        bucket_sort(entries, n, lowest, highest);
    if (descending) std::reverse(entries, entries + n);
}

// Codes are ranks, so they are spread evenly: one pass puts them into about as many buckets as
// there are entries, and what is left to sort within a bucket is next to nothing.
void EntrySorter::bucket_sort(Entry* entries, std::size_t n, std::uint32_t lowest,
                              std::uint32_t highest) {
    const int range_bits = std::bit_width(highest - lowest);
    const int shift = std::max(0, range_bits - static_cast<int>(std::bit_width(n)));
    const auto bucket = [&](const Entry& entry) { return (entry.code - lowest) >> shift; };
    const std::size_t n_buckets = ((highest - lowest) >> shift) + 1;

    if (scratch_.size() < n) scratch_.resize(n);
    starts_.assign(n_buckets + 1, 0);
    for (std::size_t i = 0; i < n; ++i) ++starts_[bucket(entries[i]) + 1];
    for (std::size_t b = 1; b < n_buckets; ++b) starts_[b + 1] += starts_[b];
    for (std::size_t i = 0; i < n; ++i) scratch_[starts_[bucket(entries[i])]++] = entries[i];
    if (shift > 0) {
        std::uint32_t begin = 0;
        for (std::size_t b = 0; b < n_buckets; ++b) {
            const std::uint32_t end = starts_[b];  // the scatter moved each start to its end
            sort_few(scratch_.data() + begin, scratch_.data() + end);
            begin = end;
        }
    }
    std::copy_n(scratch_.data(), n, entries);
}

}  // namespace sketchforest
