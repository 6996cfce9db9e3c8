#include "contributions.hpp"

#include <algorithm>
#include <numeric>

#include "weighted_medians.hpp"

namespace sketchforest {
namespace {

// The nodes from a leaf up to the root of its tree. Each has the rows of those below it, and more
// that come after them.
struct Way {
    std::vector<std::int64_t> nodes;
    std::vector<std::int64_t> n_rows;  // of each node
    std::vector<std::int32_t> rows;
    std::vector<double> weights;
};

Way find_way(const Hierarchy& hierarchy, const Leaves& leaves, const ObliqueTrees& trees,
             std::size_t tree, std::int32_t leaf_of_row) {
    const std::int64_t first_node = trees.node_start[tree], end_node = trees.node_start[tree + 1];
    const std::int64_t n_inner = end_node - first_node, n_leaves = n_inner + 1;
    // A tree has one more place in member_start than it has leaves.
    const auto first_leaf =
        static_cast<std::int64_t>(hierarchy.n_inner + leaves.leaf_start[tree] - tree);
    Way way;
    for (std::int64_t node = first_leaf + leaf_of_row; node >= 0; node = hierarchy.parents[node])
        way.nodes.push_back(node);

    // Of each node and leaf of the tree: the place on the way where it is, or where it parts.
    std::vector<std::int32_t> parts(n_inner + n_leaves);
    const auto part_of = [&](std::int64_t node) -> std::int32_t& {
        return parts[node < end_node ? node - first_node : n_inner + node - first_leaf];
    };
    auto place = static_cast<std::int32_t>(way.nodes.size()) - 1;
    part_of(way.nodes[place]) = place;
    for (std::int64_t node = first_node; node < end_node; ++node) {  // parents before children
        part_of(hierarchy.left[node]) = part_of(hierarchy.right[node]) = part_of(node);
        if (node != way.nodes[place]) continue;
        --place;
        part_of(way.nodes[place]) = place;
    }

    const std::uint32_t* const start = leaves.member_start + leaves.leaf_start[tree];
    way.n_rows.resize(way.nodes.size());
    for (std::int64_t leaf = 0; leaf < n_leaves; ++leaf)
        way.n_rows[parts[n_inner + leaf]] += start[leaf + 1] - start[leaf];
    std::partial_sum(way.n_rows.begin(), way.n_rows.end(), way.n_rows.begin());
    way.rows.resize(way.n_rows.back());
    way.weights.resize(way.n_rows.back());
    std::vector<std::int64_t> next{0};
    next.insert(next.end(), way.n_rows.begin(), way.n_rows.end() - 1);
    for (std::int64_t leaf = 0; leaf < n_leaves; ++leaf)
        for (std::int64_t at = start[leaf]; at < start[leaf + 1]; ++at) {
            const std::int64_t to = next[parts[n_inner + leaf]]++;
            const std::int64_t member = leaves.tree_members[tree] + at;
            way.rows[to] = leaves.members[member];
            way.weights[to] = leaves.weight(member);
        }
    return way;
}

// The mean or median of the rows of each node of the way: n_outputs for each.
std::vector<double> values_on(const Way& way, const Explained& row) {
    const std::size_t k = row.n_outputs;
    std::vector<double> values(way.nodes.size() * k), sums(k);
    double weight = 0;
    std::int64_t at = 0;
    for (std::size_t node = 0; node < way.nodes.size(); ++node) {
        double* const own = values.data() + node * k;
        if (row.takes_medians) {
            const std::int64_t group[] = {0, way.n_rows[node]};
            weighted_medians(row.outputs, k, {way.rows, way.weights.data(), group}, own);
            continue;
        }
        for (; at < way.n_rows[node]; ++at) {
            const double* const of_row = row.outputs + static_cast<std::size_t>(way.rows[at]) * k;
            for (std::size_t j = 0; j < k; ++j) sums[j] += way.weights[at] * of_row[j];
            weight += way.weights[at];
        }
        for (std::size_t j = 0; j < k; ++j) own[j] = sums[j] / weight;
    }
    return values;
}

// Of a feature in a step.
struct Share {
    std::int64_t feature;
    std::size_t step;
    double share;
};

// The row as oblique trees see it, every feature in its place.
std::vector<double> seen_features(const FloatRows& seen) {
    std::vector<double> features(seen.n_features);
    if (seen.is_sparse())
        for (std::int64_t at = 0; at < seen.row_start[1]; ++at)
            features[seen.columns[at]] = seen.values[at];
    else
        std::copy_n(seen.values, seen.n_features, features.begin());
    return features;
}

// Those of the features that an oblique node adds up.
void share_oblique(const ObliqueTrees& trees, std::int64_t node, const std::vector<double>& seen,
                   bool goes_right, std::size_t step, std::vector<Share>& shares) {
    const std::int64_t begin = trees.direction_start[node], end = trees.direction_start[node + 1];
    const auto weight = [&](std::int64_t at) -> double { return from_half(trees.weights[at]); };
    double squares = 0;
    for (std::int64_t at = begin; at < end; ++at) squares += weight(at) * weight(at);
    std::vector<double> lengths, pushes;
    double total = 0;
    for (std::int64_t at = begin; at < end; ++at) {
        lengths.push_back(weight(at) * weight(at) / (squares > 0 ? squares : 1));
        const double to_right =
            weight(at) * seen[trees.columns[at]] - trees.nodes[node].threshold * lengths.back();
        pushes.push_back(std::max(goes_right ? to_right : -to_right, 0.0));
        total += pushes.back();
    }
    for (std::int64_t at = begin; at < end; ++at) {
        // Rounding may leave a row at the threshold itself, where nothing pushes it.
        const double share = total > 0 ? pushes[at - begin] / total : lengths[at - begin];
        if (share > 0) shares.push_back({trees.columns[at], step, share});
    }
}

}  // namespace

Contributions contributions(const Hierarchy& hierarchy, const Leaves& leaves,
                            const ObliqueTrees& trees, const Explained& row) {
    const std::size_t k = row.n_outputs;
    double all_trees = 0;
    const std::vector<double> seen =
        trees.is_oblique ? seen_features(*row.seen) : std::vector<double>();
    Contributions found{std::vector<double>(k), std::vector<double>(k), {}, {}};
    std::vector<double> changes;  // n_outputs of each step
    std::vector<Share> shares;
    std::size_t step = 0;
    for (std::size_t tree = 0; tree < leaves.n_trees; ++tree) {
        const Way way = find_way(hierarchy, leaves, trees, tree, row.leaf_of[tree]);
        const std::vector<double> values = values_on(way, row);
        const double of_tree = leaves.tree_weight(tree);
        all_trees += of_tree;
        for (std::size_t j = 0; j < k; ++j) {
            found.scores[j] += of_tree * values[j];
            found.base[j] += of_tree * values[values.size() - k + j];
        }
        for (std::size_t at = 1; at < way.nodes.size(); ++at, ++step) {
            const std::int64_t node = way.nodes[at];
            if (trees.is_oblique && trees.direction_start[node] < trees.direction_start[node + 1])
                share_oblique(trees, node, seen, hierarchy.right[node] == way.nodes[at - 1], step,
                              shares);
            else
                shares.push_back({trees.nodes[node].feature & ~missing_left_bit, step, 1});
            for (std::size_t j = (at - 1) * k; j < at * k; ++j)
                changes.push_back(of_tree * (values[j] - values[j + k]));
        }
    }
    for (std::size_t j = 0; j < k; ++j) {
        found.scores[j] /= all_trees;
        found.base[j] /= all_trees;
    }
    std::stable_sort(shares.begin(), shares.end(),
                     [](const Share& a, const Share& b) { return a.feature < b.feature; });
    for (const Share& each : shares) {
        if (found.features.empty() || found.features.back() != each.feature) {
            found.features.push_back(each.feature);
            found.added.resize(found.added.size() + k);
        }
        double* const added = found.added.data() + found.added.size() - k;
        for (std::size_t j = 0; j < k; ++j)
            added[j] += each.share * changes[each.step * k + j] / all_trees;
    }
    return found;
}

}  // namespace sketchforest
