#include "splitter.hpp"

#include <algorithm>
#include <limits>
#include <numeric>

namespace sketchforest {
namespace {

constexpr std::size_t few_values = 64;

// Rows of a table of codes, so that it stays in a near cache.
constexpr std::size_t table_rows = 4096;

}  // namespace

Splitter::Splitter(const Codes& codes, Columns& columns, Target& target, const GrowParams& params,
                   std::size_t n_rows)
    : codes_(codes),
      columns_(columns),
      target_(target),
      params_(params),
      stream_(params.key),
      features_(codes.n_features),
      entries_(n_rows + 1),  // one more: a sparse column writes an entry before it counts it
      side_(n_rows + 1) {
    std::iota(features_.begin(), features_.end(), 0u);
}

// `max_features` features are drawn without replacement. A feature that is constant in the node
// counts as drawn, but the search goes on until one that varies has been tried.
Split Splitter::search(std::size_t depth, const Level& level, Range node) {
    depth_ = depth;
    level_ = &level;
    node_ = node;
    limits_ = {node.size(), target_.weight(), std::max<std::size_t>(params_.min_samples_leaf, 1),
               params_.min_weight_leaf};
    best_ = Split{};
    cuts_ = Stream(stream_.next());

    const auto draw_from = [&](std::span<std::uint32_t> features, std::size_t i) {
        const auto rest = static_cast<std::uint32_t>(features.size() - i);
        std::swap(features[i], features[i + stream_.below(rest)]);
        return features[i];
    };
    std::size_t n_drawn = 0;
    const auto n_features = static_cast<std::uint32_t>(features_.size());
    if (n_features <= 1u << 16)
        for (; n_drawn + 1 < params_.max_features; n_drawn += 2) {
            const auto rest = n_features - static_cast<std::uint32_t>(n_drawn);
            const auto [first, second] = stream_.below(rest, rest - 1);
            std::swap(features_[n_drawn], features_[n_drawn + first]);
            std::swap(features_[n_drawn + 1], features_[n_drawn + 1 + second]);
        }
    for (; n_drawn < params_.max_features; ++n_drawn) draw_from(features_, n_drawn);
    const std::span<const std::uint32_t> chosen(features_.data(), params_.max_features);
    // Two rows can be parted in one way only, so that the first split of them is the best.
    const bool first_is_best = node.size() == 2;
    bool varies = false;
    if (first_is_best && !codes_.sparse) {
        // Mostly the first feature parts them: the codes of the others are not fetched.
        for (std::size_t i = 0; i < chosen.size() && !best_.found; ++i)
            varies |= try_column(chosen[i],
                                 columns_.read(depth, level, node, chosen[i], entries_.data()));
    } else {
        if (!first_is_best && try_random(chosen, varies) && varies) return best_;
        const auto drawn = columns_.expect(depth, level, node, chosen);
        if (!first_is_best && try_small(drawn, varies) && varies) return best_;
        for (std::size_t i = 0; i < drawn.size() && !(first_is_best && best_.found); ++i)
            varies |= try_column(
                drawn[i], columns_.read_expected(i, depth, level, node, drawn[i], entries_.data()));
    }
    if (varies) return best_;

    // All drawn so far are constant, so the next one that varies is any of those that vary.
    const std::span<std::uint32_t> varying = columns_.varying(depth, level, node);
    const std::span<std::uint32_t> rest = codes_.sparse ? varying : std::span(features_);
    for (std::size_t i = codes_.sparse ? 0 : params_.max_features; !varies && i < rest.size();
         ++i) {
        const std::uint32_t feature = draw_from(rest, i);
        varies = try_column(feature, columns_.read(depth, level, node, feature, entries_.data()));
    }
    return best_;
}

// Draws and scores one cut of each feature, all at once, where X is coded by value, the outputs are
// dense and nothing is missing.
bool Splitter::try_random(std::span<const std::uint32_t> features, bool& varies) {
    if (!codes_.by_value) return false;
    const DenseNode node = target_.dense_node();
    if (!node.z) return false;
    const std::size_t n_lanes = (features.size() + table_lanes - 1) / table_lanes * table_lanes;
    const auto rows = node_.rows(*level_);
    const bool by_row = codes_.read_by_row(rows.size(), features.size());
    const std::size_t block = std::min(rows.size(), table_rows);
    table_.resize(std::max(table_.size(), block * n_lanes));
    const auto tabulate = [&](std::size_t first) {
        const auto part = rows.subspan(first, std::min(block, rows.size() - first));
        columns_.tabulate(*level_, part, features, by_row, n_lanes, table_.data());
        return part;
    };

    bounds_.assign(2 * n_lanes, 0);
    std::uint32_t* const lowest = bounds_.data();
    std::uint32_t* const highest = lowest + n_lanes;
    std::fill_n(lowest, n_lanes, ~0u);
    for (std::size_t first = 0; first < rows.size(); first += block)
        kernels().bound_codes(table_.data(), tabulate(first).size(), n_lanes, lowest, highest);
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (highest[i] == codes_.missing_code(features[i])) return false;
        varies |= lowest[i] < highest[i];
    }
    if (!varies) return true;

    thresholds_.resize(features.size());
    std::uint32_t* const cuts = lowest;  // that of a feature, or of nobody, that parts no rows: all
    for (std::size_t i = 0; i < features.size(); ++i) {
        if (lowest[i] == highest[i]) continue;
        thresholds_[i] = draw_threshold(features[i], lowest[i], highest[i]);
        cuts[i] = sortable(rounded_down(thresholds_[i]));
    }
    sums_.assign(n_lanes * (node.stride + 2), 0);
    double* const weights = sums_.data() + n_lanes * node.stride;
    double* const counts = weights + n_lanes;
    for (std::size_t first = 0; first < rows.size(); first += block) {
        const auto part = block < rows.size() ? tabulate(first) : rows;
        const CutSums job{node, part.data(),  part.size(), table_.data(), n_lanes,
                          cuts, sums_.data(), weights,     counts};
        (node.wide ? kernels().sum_cuts_double : kernels().sum_cuts_float)(job);
    }
    for (std::size_t i = 0; i < features.size(); ++i) {
        const auto n_left = static_cast<std::size_t>(counts[i]);
        const double other = limits_.weight - weights[i];
        if (n_left < limits_.min_rows || rows.size() - n_left < limits_.min_rows ||
            weights[i] < limits_.min_weight || other < limits_.min_weight)
            continue;
        double inside = 0, outside = 0;
        for (std::size_t c = 0; c < node.stride; ++c) {
            const double left = sums_[i * node.stride + c], right = node.total[c] - left;
            inside += left * left;
            outside += right * right;
        }
        const Score score = Score::of(inside, weights[i], outside, other);
        if (!(score > best_.score)) continue;
        keep(score, features[i], n_left, weights[i]);
        best_.last_left = cuts[i];
        best_.first_right = cuts[i] + 1;
        best_.is_random = true;
        best_.cut = codes_.value(features[i], cuts[i]);
    }
    return true;
}

// Scores the cuts of all features at once, where the node is small, X dense and nothing is missing.
bool Splitter::try_small(std::span<const std::uint32_t> features, bool& varies) {
    SmallNode small{};
    small.codes = columns_.dealt();
    small.n_features = features.size();
    if (params_.random_cuts || node_.size() > most_small || !small.codes) return false;
    const std::size_t stride = small_stride(node_.size());
    for (std::size_t i = 0; i < features.size(); ++i) {
        const std::span<const std::uint32_t> codes(small.codes + i * stride, node_.size());
        const auto [lowest, highest] = std::ranges::minmax(codes);
        if (highest == codes_.missing_code(features[i])) return false;
        varies |= lowest < highest;
    }
    if (!varies || !target_.lay_out(*level_, node_, small)) return varies = false;
    const SmallCut cut = kernels().scan_small(small, limits_, best_.score);
    if (cut.n_taken == 0) return true;
    keep(cut.score, features[cut.feature], cut.n_taken, cut.weight);
    const std::span<const std::uint32_t> codes(small.codes + cut.feature * stride, node_.size());
    best_.last_left = codes[cut.row];
    best_.first_right = ~0u;
    for (const std::uint32_t code : codes)
        if (code > best_.last_left) best_.first_right = std::min(best_.first_right, code);
    return true;
}

// Scores the cuts of one feature, whose entries are in place; false if it is constant in the node.
bool Splitter::try_column(std::uint32_t feature, const Column& column) {
    has_zeros_ = column.n_entries < node_.size();
    if (column.n_entries == 0 || (column.min_code == column.max_code && !has_zeros_)) return false;
    const std::size_t n_missing = missing_first(feature, column);
    if (params_.random_cuts)
        random_cut(feature, column, n_missing);
    else
        best_cut(feature, column, n_missing);
    return true;
}

// Moves the entries with a missing value to the front; returns how many they are.
std::size_t Splitter::missing_first(std::uint32_t feature, const Column& column) {
    const std::uint32_t missing_code = codes_.missing_code(feature);
    if (column.max_code < missing_code) return 0;
    const auto end = entries_.begin() + column.n_entries;
    return std::partition(entries_.begin(), end,
                          [&](const Entry& e) { return e.code == missing_code; }) -
           entries_.begin();
}

// Rows with a zero are never visited: values above zero join the right side from the largest down,
// values below zero join the left side from the smallest up, and the zeros are on the other side
// in both. Dense columns have no zeros set apart: all their rows join the left side.
void Splitter::best_cut(std::uint32_t feature, const Column& column, std::size_t n_missing) {
    Entry* const first = entries_.data() + n_missing;
    const std::size_t n = column.n_entries - n_missing;
    const std::uint32_t lowest = column.min_code;
    const std::uint32_t highest = std::min(column.max_code, codes_.missing_code(feature) - 1);
    if (!has_zeros_) return scan(feature, {first, n, lowest, highest}, true);

    const std::uint32_t zero = codes_.zero_code[feature];
    if (n == 0 || lowest > zero) return scan(feature, {first, n, lowest, highest}, false);
    const std::size_t n_above =
        std::partition(first, first + n, [&](const Entry& e) { return e.code > zero; }) - first;
    if (n_above > 0) scan(feature, {first, n_above, zero + 1, highest}, false);
    // The missing values must stand before the entries that are scanned, so the two runs change
    // places.
    std::rotate(first, first + n_above, first + n);
    if (n_above < n) scan(feature, {first, n - n_above, lowest, zero}, true);
}

// Scores all cuts among `n` entries that join one side in order of their code; the missing values
// stand before them.
void Splitter::scan(std::uint32_t feature, const Run& run, bool side_is_left) {
    sorter_.sort(run.first, run.size, run.lowest, run.highest, !side_is_left);
    const std::size_t n_missing = run.first - entries_.data();
    scan_from(feature, run.first, 0, run.size, side_is_left, !side_is_left);
    if (n_missing > 0)
        scan_from(feature, entries_.data(), n_missing, run.size + n_missing, side_is_left,
                  side_is_left);
}

void Splitter::scan_from(std::uint32_t feature, Entry* first, std::size_t n_prefix, std::size_t n,
                         bool side_is_left, bool missing_left) {
    const bool has_missing = first != entries_.data() || n_prefix > 0;
    const Cut cut = target_.scan({first, n, n_prefix, n_prefix > 0}, limits_, best_.score);
    if (cut.n_taken == 0) return;
    keep_side(cut, feature, cut.n_taken, side_is_left);
    if (has_missing) best_.missing_left = missing_left;

    const std::uint32_t zero = has_zeros_ ? codes_.zero_code[feature] : 0;
    const bool at_end = cut.n_taken == n;
    if (cut.n_taken == n_prefix) {  // the missing values against all others
        best_.only_missing_right = true;
        best_.left_weight = limits_.weight - cut.weight;
        best_.missing_left = false;
        return;
    }
    const std::uint32_t joined = first[cut.n_taken - 1].code;
    if (side_is_left) {
        best_.last_left = joined;
        if (!at_end)
            best_.first_right = first[cut.n_taken].code;
        else if (has_zeros_)
            best_.first_right = zero;
        else
            best_.only_missing_right = true;
    } else {
        best_.first_right = joined;
        best_.last_left = at_end ? zero : first[cut.n_taken].code;
    }
}

double Splitter::draw_threshold(std::uint32_t feature, std::uint32_t lowest,
                                std::uint32_t highest) {
    const double low = codes_.value(feature, lowest), high = codes_.value(feature, highest);
    const double u = cuts_.uniform();
    const double threshold = low * (1 - u) + high * u;  // low + u (high - low) may overflow
    return threshold >= low && threshold < high ? threshold : low;
}

// One cut, uniform between the smallest and the largest value in the node.
void Splitter::random_cut(std::uint32_t feature, const Column& column, std::size_t n_missing) {
    const Entry* const entries = entries_.data();
    const std::size_t n_entries = column.n_entries;
    const std::uint32_t zero = has_zeros_ ? codes_.zero_code[feature] : 0;
    std::uint32_t lowest = column.min_code, highest = column.max_code;
    if (n_missing > 0) {
        lowest = std::numeric_limits<std::uint32_t>::max(), highest = 0;
        for (std::size_t i = n_missing; i < n_entries; ++i) {
            lowest = std::min(lowest, entries[i].code);
            highest = std::max(highest, entries[i].code);
        }
    }
    if (has_zeros_) lowest = std::min(lowest, zero), highest = std::max(highest, zero);
    if (lowest == highest) {  // only missing values differ from the others
        const Cut cut = target_.scan({entries, n_missing, n_missing, true}, limits_, best_.score);
        if (cut.n_taken == 0) return;
        keep_side(cut, feature, n_missing, false);
        best_.only_missing_right = true;
        best_.missing_left = false;
        return;
    }

    double threshold = draw_threshold(feature, lowest, highest);
    // The last code whose value does not exceed the threshold. Among ranks, a small node asks for
    // the values of its own rows: a search by halves would wait for a distant piece of memory at
    // each step.
    std::uint32_t last_left = lowest, above = highest;
    if (codes_.by_value) {
        last_left = sortable(rounded_down(threshold));
        above = last_left + 1;
        threshold = codes_.value(feature, last_left);
    } else if (n_entries <= few_values) {
        const auto place = [&](std::uint32_t code) {
            const bool left = codes_.value(feature, code) <= threshold;
            last_left = std::max(last_left, left ? code : lowest);
            above = std::min(above, left ? highest : code);
        };
        for (std::size_t i = n_missing; i < n_entries; ++i) place(entries[i].code);
        if (has_zeros_) place(zero);
    } else {
        while (above - last_left > 1) {
            const std::uint32_t middle = last_left + (above - last_left) / 2;
            (codes_.value(feature, middle) <= threshold ? last_left : above) = middle;
        }
    }

    // The side without the zeros joins, all of it at once.
    const bool side_is_left = !has_zeros_ || zero > last_left;
    Entry* const side = side_.data();
    std::size_t n_side = 0;
    for (std::size_t i = 0; i < n_missing; ++i) side[n_side++] = {0, entries[i].row};
    for (std::size_t i = n_missing; i < n_entries; ++i) {
        side[n_side] = {0, entries[i].row};
        n_side += (entries[i].code <= last_left) == side_is_left;
    }
    for (const std::size_t n_prefix : {std::size_t{0}, n_missing}) {
        const Entry* first = side + n_missing - n_prefix;
        const std::size_t n = n_side - n_missing + n_prefix;
        const Cut cut = target_.scan({first, n, n_prefix, false}, limits_, best_.score);
        if (cut.n_taken > 0) {
            keep_side(cut, feature, n, side_is_left);
            if (n_missing > 0) best_.missing_left = side_is_left == (n_prefix > 0);
            best_.last_left = last_left;
            best_.first_right = above;
            best_.is_random = true;
            best_.cut = threshold;
        }
        if (n_missing == 0) break;
    }
}

void Splitter::keep_side(const Cut& cut, std::uint32_t feature, std::size_t n_taken,
                         bool side_is_left) {
    if (side_is_left)
        keep(cut.score, feature, n_taken, cut.weight);
    else
        keep(cut.score, feature, node_.size() - n_taken, limits_.weight - cut.weight);
}

void Splitter::keep(const Score& score, std::uint32_t feature, std::size_t n_left,
                    double left_weight) {
    best_ = Split{};
    best_.found = true;
    best_.score = score;
    best_.left_weight = left_weight;
    best_.feature = feature;
    best_.last_left = codes_.missing_code(feature) - 1;
    // Where training has no missing value to learn from, one met later follows the majority.
    best_.missing_left = n_left > node_.size() - n_left;
}

std::uint32_t Splitter::partition(std::size_t depth, Level& level, Range node, const Split& split) {
    const Column column = columns_.read(depth, level, node, split.feature, entries_.data());
    const std::uint32_t missing_code = codes_.missing_code(split.feature);
    std::uint32_t* order = level.order.data();
    if (column.n_entries == node.size()) {
        // Every row is an entry: split the list and write it back. In dense X the entries come in
        // the node's order, which is kept: rows stay ascending and columns are read forwards.
        std::uint32_t to = node.begin, n_right = 0;
        for (std::size_t i = 0; i < column.n_entries; ++i) {
            const Entry entry = entries_[i];
            const bool left = split.goes_left(entry.code, missing_code);
            order[to] = entry.row;  // harmless if it goes right: written over by the next one
            to += left;
            side_[n_right].row = entry.row;
            n_right += !left;
        }
        for (std::uint32_t i = 0; i < n_right; ++i) order[to + i] = side_[i].row;
        if (codes_.sparse)
            for (std::uint32_t i = node.begin; i < node.end; ++i) level.position[order[i]] = i;
        return to - node.begin;
    }
    // The rows with a zero stay where they are; the entries of the other side change places with
    // rows at that side's end.
    const bool zeros_left = split.goes_left(codes_.zero_code[split.feature], missing_code);
    std::uint32_t n_moved = 0;
    for (std::size_t i = 0; i < column.n_entries; ++i) {
        if (split.goes_left(entries_[i].code, missing_code) == zeros_left) continue;
        const std::uint32_t row = entries_[i].row;
        const std::uint32_t from = level.position[row];
        const std::uint32_t to = zeros_left ? node.end - 1 - n_moved : node.begin + n_moved;
        const std::uint32_t other = order[to];
        order[to] = row;
        order[from] = other;
        level.position[row] = to;
        level.position[other] = from;
        ++n_moved;
    }
    return zeros_left ? node.size() - n_moved : n_moved;
}

}  // namespace sketchforest
