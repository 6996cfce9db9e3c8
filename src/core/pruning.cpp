#include "pruning.hpp"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>

namespace sketchforest {

PruningPath pruning_path(const Hierarchy& tree, std::span<const double> costs, double most) {
    std::vector<double> branch(costs.begin(), costs.end()), n_leaves(tree.n_nodes(), 1.0);
    add_up(tree, branch);
    add_up(tree, n_leaves);
    const auto alpha_of = [&](std::int64_t node) {
        return (costs[node] - branch[node]) / (n_leaves[node] - 1);
    };
    using Split = std::tuple<double, std::int64_t, std::int64_t>;  // alpha, number, node
    std::priority_queue<Split, std::vector<Split>, std::greater<>> weakest;
    for (std::size_t node = 0; node < tree.n_inner; ++node)
        if (alpha_of(node) <= most) weakest.emplace(alpha_of(node), tree.numbers[node], node);

    PruningPath path{{0.0}, {branch[tree.roots[0]]}, {}};
    while (!weakest.empty()) {
        const auto [known, number, node] = weakest.top();
        weakest.pop();
        bool is_gone = false;  // with a node above it
        for (std::int64_t at = tree.parents[node]; at >= 0; at = tree.parents[at])
            is_gone |= n_leaves[at] == 1;
        if (is_gone) continue;
        const double alpha = alpha_of(node);
        if (alpha > known) {  // it rises with each split that is undone below the node
            if (alpha <= most) weakest.emplace(alpha, number, node);
            continue;
        }
        const double more = costs[node] - branch[node], fewer = n_leaves[node] - 1;
        for (std::int64_t at = node; at >= 0; at = tree.parents[at]) {
            branch[at] += more;
            n_leaves[at] -= fewer;
        }
        path.alphas.push_back(std::max(path.alphas.back(), alpha));  // may be less by rounding
        path.impurities.push_back(branch[tree.roots[0]]);
        path.undone.push_back(node);
    }
    return path;
}

PrunedTree cut_off(const Hierarchy& tree, std::span<const std::int64_t> undone) {
    constexpr std::int64_t stays = -1;
    // The new leaf that a node is, or is part of.
    std::vector<std::int64_t> ends(tree.n_nodes(), stays);
    for (const std::int64_t node : undone) ends[node] = node;
    for (std::size_t leaf = tree.n_inner; leaf < tree.n_nodes(); ++leaf)
        ends[leaf] = static_cast<std::int64_t>(leaf);
    PrunedTree pruned;
    std::vector<std::int32_t> depth(tree.n_nodes()), reference(tree.n_nodes());
    for (std::size_t node = 0; node < tree.n_inner; ++node) {
        for (const std::int64_t child : {tree.left[node], tree.right[node]}) {
            depth[child] = depth[node] + 1;
            if (ends[node] != stays) ends[child] = ends[node];
        }
        if (ends[node] != stays) continue;
        reference[node] = static_cast<std::int32_t>(pruned.kept.size());
        pruned.kept.push_back(static_cast<std::int64_t>(node));
        pruned.depth = std::max(pruned.depth, depth[node] + 1);
    }
    // Leaves in the order of what they were: nodes, then leaves.
    std::int32_t n_leaves = 0;
    for (std::size_t node = 0; node < tree.n_nodes(); ++node)
        if (ends[node] == static_cast<std::int64_t>(node)) reference[node] = -1 - n_leaves++;
    for (const std::int64_t node : pruned.kept)
        for (const std::int64_t child : {tree.left[node], tree.right[node]})
            pruned.children.push_back(reference[child]);
    for (std::size_t leaf = tree.n_inner; leaf < tree.n_nodes(); ++leaf)
        pruned.leaf_of.push_back(-1 - reference[ends[leaf]]);
    return pruned;
}

}  // namespace sketchforest
