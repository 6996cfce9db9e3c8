#include "random_cuts.hpp"

#include <algorithm>
#include <limits>

namespace sketchforest {
namespace {

// Up to this many entries, their values are looked up instead of searching all values of the
// feature.
constexpr std::size_t few_values = 64;

// Rows of a table of codes, so that it stays in a near cache.
constexpr std::size_t table_rows = 4096;

// Fills a table of codes, a row of `stride` for each of some rows of X. `by_row`: the rows lie far
// apart, so the codes of one row are read together.
void tabulate(const Codes& codes, const RowSubset& subset, std::span<const std::uint32_t> rows,
              std::span<const std::uint32_t> features, bool by_row, std::size_t stride,
              std::uint32_t* table) {
    const auto row_of = [&](std::uint32_t row) {
        return static_cast<std::size_t>(subset.row[row]);
    };
    if (by_row) {
        for (const std::uint32_t row : rows) {
            const std::uint32_t* from =
                static_cast<const std::uint32_t*>(codes.row_codes) + row_of(row) * codes.n_features;
            for (std::size_t i = 0; i < features.size(); ++i) table[i] = from[features[i]];
            table += stride;
        }
        return;
    }
    for (const std::uint32_t feature : features) {
        const std::uint32_t* column =
            static_cast<const std::uint32_t*>(codes.codes) + feature * codes.n_rows;
        std::uint32_t* to = table++;
        for (const std::uint32_t row : rows) {
            *to = column[row_of(row)];
            to += stride;
        }
    }
}

}  // namespace

Outcome RandomCuts::search(NodeSearch& search, std::span<const std::uint32_t> features,
                           const DenseNode& node, const Pieces& pieces) {
    const Codes& codes = search.codes;
    if (!codes.by_value || !node.z) return Outcome::unsuited;
    const std::size_t n_lanes = (features.size() + table_lanes - 1) / table_lanes * table_lanes;
    const auto rows = search.rows();
    const bool by_row = codes.read_by_row(rows.size(), features.size());
    const std::size_t block = std::min(rows.size(), table_rows);
    table_.resize(std::max(table_.size(), pieces.count() * block * n_lanes));
    // work(rows, table) for blocks of the rows of a piece. A node of one block is tabulated once.
    bool is_tabulated = false;
    const auto each_block = [&](std::size_t begin, std::size_t end, std::size_t piece, auto work) {
        std::uint32_t* const table = table_.data() + piece * block * n_lanes;
        for (std::size_t first = begin; first < end; first += block) {
            const auto part = rows.subspan(first, std::min(block, end - first));
            if (!is_tabulated)
                tabulate(codes, *search.subset, part, features, by_row, n_lanes, table);
            work(part, table);
        }
    };

    bounds_.assign(pieces.count() * 2 * n_lanes, 0);
    std::uint32_t* const lowest = bounds_.data();
    std::uint32_t* const highest = lowest + n_lanes;
    pieces.each([&](std::size_t piece, std::size_t begin, std::size_t end) {
        std::uint32_t* const low = lowest + piece * 2 * n_lanes;
        std::fill_n(low, n_lanes, ~0u);
        each_block(begin, end, piece, [&](auto part, const std::uint32_t* table) {
            kernels().bound_codes(table, part.size(), n_lanes, low, low + n_lanes);
        });
    });
    for (std::size_t piece = 1; piece < pieces.count(); ++piece)
        for (std::size_t i = 0; i < n_lanes; ++i) {
            lowest[i] = std::min(lowest[i], lowest[piece * 2 * n_lanes + i]);
            highest[i] = std::max(highest[i], highest[piece * 2 * n_lanes + i]);
        }
    is_tabulated = pieces.count() == 1 && block == rows.size();
    bool varies = false;
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (highest[i] == codes.missing_code(features[i])) return Outcome::unsuited;
        varies |= lowest[i] < highest[i];
    }
    if (!varies) return Outcome::constant;

    // Of a feature that is constant, and of the lanes that no feature fills: all rows join.
    std::uint32_t* const cuts = lowest;
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (lowest[i] == highest[i]) continue;
        const double threshold = draw_threshold(search, features[i], {lowest[i], highest[i]});
        cuts[i] = sortable(rounded_down(threshold));
    }
    const std::size_t width = n_lanes * (node.stride + 2);
    sums_.resize(width);
    pieces.add_up(width, sums_.data(), by_piece_,
                  [&](std::size_t piece, std::size_t begin, std::size_t end, double* sums) {
                      std::fill_n(sums, width, 0.0);
                      double* const weights = sums + n_lanes * node.stride;
                      each_block(begin, end, piece, [&](auto part, const std::uint32_t* table) {
                          const CutSums job{node,  part.data(), part.size(),
                                            table, n_lanes,     cuts,
                                            sums,  weights,     weights + n_lanes};
                          (node.wide ? kernels().sum_cuts_double : kernels().sum_cuts_float)(job);
                      });
                  });
    const double* const weights = sums_.data() + n_lanes * node.stride;
    const double* const counts = weights + n_lanes;
    const Limits& limits = search.limits;
    for (std::size_t i = 0; i < features.size(); ++i) {
        const auto n_left = static_cast<std::size_t>(counts[i]);
        const double other = limits.weight - weights[i];
        if (n_left < limits.min_rows || rows.size() - n_left < limits.min_rows ||
            weights[i] < limits.min_weight || other < limits.min_weight)
            continue;
        double inside = 0, outside = 0;
        for (std::size_t c = 0; c < node.stride; ++c) {
            const double left = sums_[i * node.stride + c], right = node.total[c] - left;
            inside += left * left;
            outside += right * right;
        }
        const Score score = Score::of(inside, weights[i], outside, other);
        if (!(score > search.best.score)) continue;
        search.keep(score, features[i], n_left, weights[i]);
        search.best.last_left = cuts[i];
        search.best.first_right = cuts[i] + 1;
        search.best.is_random = true;
        search.best.cut = codes.value(features[i], cuts[i]);
    }
    return Outcome::searched;
}

void RandomCuts::search(NodeSearch& search, const FeatureEntries& entries) {
    const CodeBounds found = bounds(search, entries);
    const double threshold = draw_threshold(search, entries.feature, found);
    score(search, entries, found, threshold);
}

CodeBounds RandomCuts::bounds(const NodeSearch& search, const FeatureEntries& entries) {
    std::uint32_t lowest = entries.min_code, highest = entries.max_code;
    if (entries.n_missing > 0) {
        lowest = std::numeric_limits<std::uint32_t>::max(), highest = 0;
        for (std::size_t i = entries.n_missing; i < entries.size; ++i) {
            lowest = std::min(lowest, entries.first[i].code);
            highest = std::max(highest, entries.first[i].code);
        }
    }
    if (entries.has_zeros) {
        const std::uint32_t zero = search.codes.zero_code[entries.feature];
        lowest = std::min(lowest, zero), highest = std::max(highest, zero);
    }
    return {lowest, highest};
}

double RandomCuts::draw_threshold(const NodeSearch& search, std::uint32_t feature,
                                  const CodeBounds& bounds) {
    if (bounds.lowest == bounds.highest) return 0;  // nothing to draw
    const double low = search.codes.value(feature, bounds.lowest);
    const double high = search.codes.value(feature, bounds.highest);
    const double u = stream_.uniform();
    const double threshold = low * (1 - u) + high * u;  // low + u (high - low) may overflow
    return threshold >= low && threshold < high ? threshold : low;
}

void RandomCuts::score(NodeSearch& search, const FeatureEntries& entries, const CodeBounds& bounds,
                       double threshold) {
    if (bounds.lowest == bounds.highest) return cut_off_missing(search, entries);
    score_sides(search, entries, place(search, entries, threshold, bounds));
}

// Only missing values differ from the others.
void RandomCuts::cut_off_missing(NodeSearch& search, const FeatureEntries& entries) {
    const std::size_t n = entries.n_missing;
    const SplitPoint cut =
        scanner_.scan({entries.first, n, n, true}, search.limits, search.best.score);
    if (cut.n_taken == 0) return;
    search.keep_side(cut, entries.feature, n, false);
    search.best.only_missing_right = true;
    search.best.missing_left = false;
}

// The last code whose value does not exceed the threshold, and the one after it. Among ranks, a
// small node asks for the values of its own rows: a binary search would wait for distant memory at
// each step.
RandomCuts::Place RandomCuts::place(const NodeSearch& search, const FeatureEntries& entries,
                                    double threshold, const CodeBounds& bounds) {
    const auto [lowest, highest] = bounds;
    const Codes& codes = search.codes;
    const std::uint32_t feature = entries.feature;
    if (codes.by_value) {
        const std::uint32_t last_left = sortable(rounded_down(threshold));
        return {last_left, last_left + 1, codes.value(feature, last_left)};
    }
    std::uint32_t last_left = lowest, above = highest;
    if (entries.size <= few_values) {
        const auto narrow = [&](std::uint32_t code) {
            const bool left = codes.value(feature, code) <= threshold;
            last_left = std::max(last_left, left ? code : lowest);
            above = std::min(above, left ? highest : code);
        };
        for (std::size_t i = entries.n_missing; i < entries.size; ++i)
            narrow(entries.first[i].code);
        if (entries.has_zeros) narrow(codes.zero_code[feature]);
    } else {
        while (above - last_left > 1) {
            const std::uint32_t middle = last_left + (above - last_left) / 2;
            (codes.value(feature, middle) <= threshold ? last_left : above) = middle;
        }
    }
    return {last_left, above, threshold};
}

// The side without the zeros joins, all of it at once: without the missing values, then with them.
void RandomCuts::score_sides(NodeSearch& search, const FeatureEntries& entries,
                             const Place& place) {
    const std::size_t n_missing = entries.n_missing;
    const bool side_is_left =
        !entries.has_zeros || search.codes.zero_code[entries.feature] > place.last_left;
    Entry* const side = side_.data();
    std::size_t n_side = 0;
    for (std::size_t i = 0; i < n_missing; ++i) side[n_side++] = {0, entries.first[i].row};
    for (std::size_t i = n_missing; i < entries.size; ++i) {
        side[n_side] = {0, entries.first[i].row};
        n_side += (entries.first[i].code <= place.last_left) == side_is_left;
    }
    Split& best = search.best;
    for (const std::size_t n_prefix : {std::size_t{0}, n_missing}) {
        const Entry* first = side + n_missing - n_prefix;
        const std::size_t n = n_side - n_missing + n_prefix;
        const SplitPoint cut =
            scanner_.scan({first, n, n_prefix, false}, search.limits, best.score);
        if (cut.n_taken > 0) {
            search.keep_side(cut, entries.feature, n, side_is_left);
            if (n_missing > 0) best.missing_left = side_is_left == (n_prefix > 0);
            best.last_left = place.last_left;
            best.first_right = place.first_right;
            best.is_random = true;
            best.cut = place.threshold;
        }
        if (n_missing == 0) break;
    }
}

}  // namespace sketchforest
