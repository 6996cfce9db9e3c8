#include "importances.hpp"

#include <algorithm>

namespace sketchforest {
namespace {

// visit(tree, node, feature, its share in the node): first the nodes that are split by one feature.
template <class Visit>
void each_use(const ObliqueTrees& trees, Visit visit) {
    for (const bool is_oblique : {false, true})
        for (std::size_t tree = 0; tree < trees.n_trees; ++tree)
            for (std::int64_t node = trees.node_start[tree]; node < trees.node_start[tree + 1];
                 ++node) {
                const std::int64_t* const start = trees.direction_start;
                const bool has_direction = start && start[node] < start[node + 1];
                if (has_direction != is_oblique) continue;
                if (!is_oblique) {
                    visit(tree, node, trees.nodes[node].feature & ~missing_left_bit, 1.0);
                    continue;
                }
                const auto square = [&](std::int64_t at) {
                    const double weight = from_half(trees.weights[at]);
                    return weight * weight;
                };
                double total = 0;
                for (std::int64_t at = start[node]; at < start[node + 1]; ++at) total += square(at);
                for (std::int64_t at = start[node]; at < start[node + 1]; ++at)
                    visit(tree, node, trees.columns[at], square(at) / (total > 0 ? total : 1));
            }
}

}  // namespace

Importances find_importances(const ObliqueTrees& trees, std::span<const float> gains) {
    Importances found;
    std::vector<double> of_tree(trees.n_trees);
    const auto gain = [&](std::int64_t node, double share) {
        return std::max(static_cast<double>(gains[node]), 0.0) * share;
    };
    each_use(trees, [&](std::size_t tree, std::int64_t node, std::int64_t feature, double share) {
        of_tree[tree] += gain(node, share);
        found.features.push_back(feature);
    });
    std::sort(found.features.begin(), found.features.end());
    found.features.erase(std::unique(found.features.begin(), found.features.end()),
                         found.features.end());
    found.sums.resize(found.features.size());
    each_use(trees, [&](std::size_t tree, std::int64_t node, std::int64_t feature, double share) {
        const auto at = std::lower_bound(found.features.begin(), found.features.end(), feature);
        found.sums[at - found.features.begin()] +=
            gain(node, share) / (of_tree[tree] > 0 ? of_tree[tree] : 1);
    });
    return found;
}

}  // namespace sketchforest
