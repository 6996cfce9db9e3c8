#include "small_node.hpp"

#include <algorithm>

namespace sketchforest {

Outcome search_small_node(NodeSearch& search, SplitCriterion& criterion, const Gathered& gathered) {
    const std::size_t n_rows = search.node.size();
    if (n_rows > most_small || !gathered.codes) return Outcome::unsuited;
    const auto codes_of = [&](std::size_t place) {
        return std::span(gathered.codes + place * small_stride(n_rows), n_rows);
    };
    bool varies = false;
    for (std::size_t i = 0; i < gathered.features.size(); ++i) {
        const auto [lowest, highest] = std::ranges::minmax(codes_of(i));
        if (highest == search.codes.missing_code(gathered.features[i])) return Outcome::unsuited;
        varies |= lowest < highest;
    }
    if (!varies) return Outcome::constant;

    SmallNode small{};
    small.codes = gathered.codes;
    small.n_features = gathered.features.size();
    if (!criterion.fill(small, *search.subset, search.node)) return Outcome::unsuited;
    const SmallCut cut = kernels().scan_small(small, search.limits, search.best.score);
    if (cut.n_taken == 0) return Outcome::searched;
    search.keep(cut.score, gathered.features[cut.feature], cut.n_taken, cut.weight);
    const auto codes = codes_of(cut.feature);
    search.best.last_left = codes[cut.row];
    search.best.first_right = ~0u;
    for (const std::uint32_t code : codes)
        if (code > codes[cut.row])
            search.best.first_right = std::min(search.best.first_right, code);
    return Outcome::searched;
}

}  // namespace sketchforest
