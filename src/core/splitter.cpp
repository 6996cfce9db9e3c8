#include "splitter.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "small_node.hpp"

namespace sketchforest {

Splitter::Splitter(const Codes& codes, FeatureReader& reader, SplitCriterion& criterion,
                   const GrowParams& params, std::size_t n_rows, Team& team)
    : codes_(codes),
      reader_(reader),
      criterion_(criterion),
      params_(params),
      stream_(params.key),
      features_(codes.n_features),
      right_(n_rows + 1),
      search_{codes},
      own_(criterion, params, n_rows),
      team_(team),
      shares_nodes_(n_rows >= params.shared_rows && criterion.another_scanner()) {
    std::iota(features_.begin(), features_.end(), 0u);
}

// `max_features` features are drawn without replacement. A feature that is constant in the node
// counts as drawn, but the search goes on until one that varies has been tried.
Split Splitter::search(std::size_t depth, const RowSubset& subset, Range node,
                       const Pieces& pieces) {
    search_.depth = depth;
    search_.subset = &subset;
    search_.node = node;
    search_.pieces = &pieces;
    search_.limits = {node.size(), criterion_.weight(),
                      std::max<std::size_t>(params_.min_samples_leaf, 1), params_.min_weight_leaf};
    search_.best = Split{};
    // A stream of the node's own: how many cuts it needs does not matter to later nodes.
    own_.random_cuts.draw_from(Stream(stream_.next()));
    if (search_drawn(draw_features()) == Outcome::constant) search_undrawn();
    return search_.best;
}

std::span<const std::uint32_t> Splitter::draw_features() {
    std::size_t n_drawn = 0;
    const auto n_features = static_cast<std::uint32_t>(features_.size());
    if (n_features <= 1u << 16)  // one random number is enough for two
        for (; n_drawn + 1 < params_.max_features; n_drawn += 2) {
            const auto rest = n_features - static_cast<std::uint32_t>(n_drawn);
            const auto [first, second] = stream_.below(rest, rest - 1);
            std::swap(features_[n_drawn], features_[n_drawn + first]);
            std::swap(features_[n_drawn + 1], features_[n_drawn + 1 + second]);
        }
    for (; n_drawn < params_.max_features; ++n_drawn) draw_from(features_, n_drawn);
    return {features_.data(), params_.max_features};
}

// Draws one of features[i], features[i + 1], ... and moves it to place i.
std::uint32_t Splitter::draw_from(std::span<std::uint32_t> features, std::size_t i) {
    const auto rest = static_cast<std::uint32_t>(features.size() - i);
    std::swap(features[i], features[i + stream_.below(rest)]);
    return features[i];
}

// All features at once where the node allows it, else one by one.
Outcome Splitter::search_drawn(std::span<const std::uint32_t> drawn) {
    // Two rows can be split in one way only, so the first split of them is the best.
    const bool first_is_best = search_.node.size() == 2;
    if (first_is_best && !codes_.sparse) return search_two_rows(drawn);
    if (params_.random_cuts && !first_is_best) {
        const Pieces pieces(search_.node.size(), params_.piece_rows, team_);
        const Outcome outcome =
            own_.random_cuts.search(search_, drawn, criterion_.dense_node(), pieces);
        if (outcome != Outcome::unsuited) return outcome;
    }
    if (codes_.bins && !params_.random_cuts && search_.node.size() >= params_.binned_rows) {
        const Outcome outcome = search_in_bins(drawn);
        if (outcome != Outcome::unsuited) return outcome;
    }
    const Gathered gathered = reader_.gather(*search_.subset, search_.node, drawn, *search_.pieces);
    if (!params_.random_cuts && !first_is_best) {
        const Outcome outcome = search_small_node(search_, criterion_, gathered);
        if (outcome != Outcome::unsuited) return outcome;
    }
    if (shares_nodes_ && search_.node.size() >= params_.shared_rows)
        return search_side_by_side(gathered.features);
    bool varies = false;
    for (std::size_t i = 0; i < gathered.features.size(); ++i) {
        if (first_is_best && search_.best.found) break;
        const std::uint32_t feature = gathered.features[i];
        varies |= search_feature(
            feature, reader_.read_gathered(i, search_.depth, *search_.subset, search_.node, feature,
                                           own_.entries.data()));
    }
    return varies ? Outcome::searched : Outcome::constant;
}

// The first feature usually splits them, so the codes of the others are not fetched.
Outcome Splitter::search_two_rows(std::span<const std::uint32_t> drawn) {
    bool varies = false;
    for (std::size_t i = 0; i < drawn.size() && !search_.best.found; ++i)
        varies |= search_feature(drawn[i], read(drawn[i]));
    return varies ? Outcome::searched : Outcome::constant;
}

// Each thread takes one feature after the other. Features are compared in their order, and each is
// searched by itself even on one thread, since scores within a rounding error have no order.
Outcome Splitter::search_side_by_side(std::span<const std::uint32_t> features) {
    make_searchers();
    found_.assign(features.size(), {});
    if (params_.random_cuts) {
        each_varying(features, [&](Searcher&, std::size_t i, const FeatureEntries& entries) {
            found_[i].varies = true;
            found_[i].bounds = RandomCuts::bounds(search_, entries);
        });
        for (std::size_t i = 0; i < features.size(); ++i)
            if (found_[i].varies)
                found_[i].threshold =
                    own_.random_cuts.draw_threshold(search_, features[i], found_[i].bounds);
    }
    each_varying(features, [&](Searcher& own, std::size_t i, const FeatureEntries& entries) {
        Found& found = found_[i];
        found.varies = true;
        NodeSearch search = search_;
        if (params_.random_cuts)
            own.random_cuts.score(search, entries, found.bounds, found.threshold);
        else
            own.best_cuts.search(search, entries);
        found.best = search.best;
    });
    bool varies = false;
    for (const Found& found : found_) {
        varies |= found.varies;
        if (found.best.found && found.best.score > search_.best.score) search_.best = found.best;
    }
    return varies ? Outcome::searched : Outcome::constant;
}

// All features by the bins of their codes; by the codes themselves where all bins are alike.
Outcome Splitter::search_in_bins(std::span<const std::uint32_t> features) {
    const DenseNode outputs = criterion_.dense_node();
    if (!outputs.z) return Outcome::unsuited;
    make_searchers();
    std::vector<Split> splits(features.size());
    const std::size_t n_groups =
        std::max(std::min(team_.size(), features.size()),
                 (features.size() + BinnedCuts::most_features - 1) / BinnedCuts::most_features);
    take_turns(n_groups, [&](Searcher& own, std::size_t group) {
        const std::size_t first = group * features.size() / n_groups;
        const std::size_t end = (group + 1) * features.size() / n_groups;
        own.binned_cuts.search(search_, outputs, features.subspan(first, end - first),
                               splits.data() + first);
    });
    for (const Split& split : splits)
        if (split.found && split.score > search_.best.score) search_.best = split;
    return search_.best.found ? Outcome::searched : Outcome::unsuited;
}

void Splitter::make_searchers() {
    while (scanners_.size() + 1 < team_.size()) {
        scanners_.push_back(criterion_.another_scanner());
        searchers_.emplace_back(*scanners_.back(), params_, right_.size() - 1);
    }
}

// work(searcher, task) for each task, on any thread.
template <class Work>
void Splitter::take_turns(std::size_t n_tasks, Work work) {
    std::atomic<std::size_t> next = 0;
    team_.run(team_.size(), [&](std::size_t number) {
        Searcher& own = number == 0 ? own_ : searchers_[number - 1];
        for (std::size_t task = next++; task < n_tasks; task = next++) work(own, task);
    });
}

// work(searcher, i, entries) for each of the gathered features that varies in the node, on any
// thread.
template <class Work>
void Splitter::each_varying(std::span<const std::uint32_t> features, Work work) {
    take_turns(features.size(), [&](Searcher& own, std::size_t i) {
        const Column column = reader_.read_gathered(i, search_.depth, *search_.subset, search_.node,
                                                    features[i], own.entries.data());
        if (const auto entries = varying(features[i], column, own.entries.data()))
            work(own, i, *entries);
    });
}

// All drawn so far are constant, so the next one that varies is any of those that vary.
void Splitter::search_undrawn() {
    const std::span<std::uint32_t> rest =
        reader_.may_vary(search_.depth, *search_.subset, search_.node,
                         std::span(features_).subspan(params_.max_features));
    for (std::size_t i = 0; i < rest.size(); ++i) {
        const std::uint32_t feature = draw_from(rest, i);
        if (search_feature(feature, read(feature))) return;
    }
}

Column Splitter::read(std::uint32_t feature) {
    return reader_.read(search_.depth, *search_.subset, search_.node, feature, own_.entries.data());
}

// Scores the cuts of one feature, whose entries are in place; false if it is constant in the node.
bool Splitter::search_feature(std::uint32_t feature, const Column& column) {
    const auto entries = varying(feature, column, own_.entries.data());
    if (!entries) return false;
    if (params_.random_cuts)
        own_.random_cuts.search(search_, *entries);
    else
        own_.best_cuts.search(search_, *entries);
    return true;
}

// The entries of a feature, ready to be searched; nothing if it is constant in the node.
std::optional<FeatureEntries> Splitter::varying(std::uint32_t feature, const Column& column,
                                                Entry* entries) const {
    const bool has_zeros = column.n_entries < search_.node.size();
    if (column.n_entries == 0 || (column.min_code == column.max_code && !has_zeros)) return {};
    const std::size_t n_missing = move_missing_first(feature, column, entries);
    return FeatureEntries{feature,         entries,         column.n_entries, n_missing,
                          column.min_code, column.max_code, has_zeros};
}

// Moves the entries with a missing value to the front; returns how many they are.
std::size_t Splitter::move_missing_first(std::uint32_t feature, const Column& column,
                                         Entry* entries) const {
    const std::uint32_t missing_code = codes_.missing_code(feature);
    if (column.max_code < missing_code) return 0;
    return std::partition(entries, entries + column.n_entries,
                          [&](const Entry& e) { return e.code == missing_code; }) -
           entries;
}

std::uint32_t Splitter::partition(std::size_t depth, RowSubset& subset, Range node,
                                  const Split& split) {
    Entry* const entries = own_.entries.data();
    const Column column = reader_.read(depth, subset, node, split.feature, entries);
    const std::uint32_t missing_code = codes_.missing_code(split.feature);
    std::uint32_t* order = subset.order.data();
    if (column.n_entries == node.size()) {
        // Every row is an entry: split the list and write it back. In dense X the entries come in
        // the node's order, which is kept: rows stay ascending and columns are read forwards.
        std::uint32_t to = node.begin, n_right = 0;
        for (std::size_t i = 0; i < column.n_entries; ++i) {
            const Entry entry = entries[i];
            const bool left = split.goes_left(entry.code, missing_code);
            order[to] = entry.row;  // harmless if it goes right: overwritten by the next one
            to += left;
            right_[n_right] = entry.row;
            n_right += !left;
        }
        for (std::uint32_t i = 0; i < n_right; ++i) order[to + i] = right_[i];
        if (codes_.sparse)
            for (std::uint32_t i = node.begin; i < node.end; ++i) subset.position[order[i]] = i;
        return to - node.begin;
    }
    // The rows with a zero stay where they are; the entries of the other side change places with
    // rows at that side's end.
    const bool zeros_left = split.goes_left(codes_.zero_code[split.feature], missing_code);
    std::uint32_t n_moved = 0;
    for (std::size_t i = 0; i < column.n_entries; ++i) {
        if (split.goes_left(entries[i].code, missing_code) == zeros_left) continue;
        const std::uint32_t row = entries[i].row;
        const std::uint32_t from = subset.position[row];
        const std::uint32_t to = zeros_left ? node.end - 1 - n_moved : node.begin + n_moved;
        const std::uint32_t other = order[to];
        order[to] = row;
        order[from] = other;
        subset.position[row] = to;
        subset.position[other] = from;
        ++n_moved;
    }
    return zeros_left ? node.size() - n_moved : n_moved;
}

}  // namespace sketchforest
