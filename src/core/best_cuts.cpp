#include "best_cuts.hpp"

#include <algorithm>

namespace sketchforest {

// Rows with a zero are never visited: values above zero join the right side from the largest down,
// values below zero join the left side from the smallest up, and the zeros are on the other side
// in both. Dense columns have no zeros set apart: all their rows join the left side.
void BestCuts::search(NodeSearch& search, const FeatureEntries& entries) {
    Entry* const first = entries.first + entries.n_missing;
    const std::size_t n = entries.size - entries.n_missing;
    const std::uint32_t lowest = entries.min_code;
    const std::uint32_t highest =
        std::min(entries.max_code, search.codes.missing_code(entries.feature) - 1);
    if (!entries.has_zeros) return scan(search, entries, {first, n, lowest, highest, true});

    const std::uint32_t zero = search.codes.zero_code[entries.feature];
    if (n == 0 || lowest > zero) return scan(search, entries, {first, n, lowest, highest, false});
    const std::size_t n_above =
        std::partition(first, first + n, [&](const Entry& e) { return e.code > zero; }) - first;
    if (n_above > 0) scan(search, entries, {first, n_above, zero + 1, highest, false});
    // Missing values must come before the entries that are scanned, so the two runs swap places.
    std::rotate(first, first + n_above, first + n);
    if (n_above < n) scan(search, entries, {first, n - n_above, lowest, zero, true});
}

// Scores all cuts of the run, with the missing values on one side and then on the other.
void BestCuts::scan(NodeSearch& search, const FeatureEntries& entries, const Run& run) {
    sorter_.sort(run.first, run.size, run.lowest, run.highest, !run.side_is_left);
    scan_from(search, entries, run, 0, !run.side_is_left);
    if (entries.n_missing > 0) scan_from(search, entries, run, entries.n_missing, run.side_is_left);
}

// `n_prefix` missing values, which stand before the run, join its side first.
void BestCuts::scan_from(NodeSearch& search, const FeatureEntries& entries, const Run& run,
                         std::size_t n_prefix, bool missing_left) {
    const Entry* const first = run.first - n_prefix;
    const std::size_t n = run.size + n_prefix;
    Split& best = search.best;
    const SplitPoint cut =
        scanner_.scan({first, n, n_prefix, n_prefix > 0}, search.limits, best.score);
    if (cut.n_taken == 0) return;
    search.keep_side(cut, entries.feature, cut.n_taken, run.side_is_left);
    if (entries.n_missing > 0) best.missing_left = missing_left;
    if (cut.n_taken == n_prefix) {  // the missing values against all others
        best.only_missing_right = true;
        best.left_weight = search.limits.weight - cut.weight;
        best.missing_left = false;
        return;
    }
    const std::uint32_t joined = first[cut.n_taken - 1].code;
    const bool at_end = cut.n_taken == n;
    const std::uint32_t zero = entries.has_zeros ? search.codes.zero_code[entries.feature] : 0;
    const std::uint32_t next = at_end ? zero : first[cut.n_taken].code;
    best.last_left = run.side_is_left ? joined : next;
    best.first_right = run.side_is_left ? next : joined;
    if (at_end && !entries.has_zeros) best.only_missing_right = true;
}

}  // namespace sketchforest
