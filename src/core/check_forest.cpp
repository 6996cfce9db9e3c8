#include <exception>
#include <thread>
#include <vector>

#include "check.hpp"
#include "check_arrays.hpp"

namespace sketchforest {
namespace {

bool are_splits(const Node* nodes, std::size_t n_nodes, std::size_t n_features) {
    return all_of(n_nodes, [&](std::size_t i) {
        return ((nodes[i].feature & ~missing_left_bit) < n_features) &
               !std::isnan(nodes[i].threshold);
    });
}

// Walks over the nodes of one tree. Children come after their parents, so there are no cycles. n
// nodes have 2 n children: if none has two parents, each leaf and each node but the root has one.
class Descent {
  public:
    // The depth of the tree; -1 if it is not a tree.
    std::int32_t depth(const Node* nodes, std::size_t n_nodes) {
        level_.assign(2 * n_nodes + 1, 0);  // of nodes, then of leaves; 0: not met
        level_[0] = 1;
        bool is_wrong = false;
        std::int32_t deepest = 1;
        for (std::size_t i = 0; i < n_nodes; ++i) {
            const std::int32_t next = level_[i] + 1;
            deepest = std::max(deepest, next);
            for (const std::int32_t child : nodes[i].child) {
                // Without a branch: whether a child is a leaf is unpredictable.
                const auto is_leaf = static_cast<std::uint32_t>(child >> 31);  // all bits or none
                const std::uint32_t number = static_cast<std::uint32_t>(child) ^ is_leaf;
                const std::uint64_t at = std::uint64_t{number} + (n_nodes & (0 - (is_leaf & 1ull)));
                const bool is_there =
                    (at > i) & (at < level_.size()) & (number < n_nodes + (is_leaf & 1));
                std::int32_t& level = level_[at & (0 - std::uint64_t{is_there})];
                is_wrong |= !is_there | (level != 0);
                level = next;
            }
        }
        return is_wrong ? -1 : deepest - 1;
    }

  private:
    std::vector<std::int32_t> level_;
};

// One of several parts of the work.
struct Part {
    std::size_t number = 0, n_parts = 1;

    template <class T>
    std::span<const T> share(std::span<const T> all) const {
        return all.subspan(first(all.size()), first(all.size(), 1) - first(all.size()));
    }
    std::size_t first(std::size_t n, std::size_t after = 0) const {
        return n * (number + after) / n_parts;
    }
};

// Each part on a thread of its own, where there is one; then the first error is thrown.
template <class Work>
void in_parts(std::size_t n_parts, Work work) {
    std::vector<std::exception_ptr> errors(n_parts);
    std::vector<std::thread> threads;
    const auto run = [&](std::size_t number) {
        try {
            work(Part{number, n_parts});
        } catch (...) {
            errors[number] = std::current_exception();
        }
    };
    threads.reserve(n_parts);
    for (std::size_t number = 1; number < n_parts; ++number) {
        try {
            threads.emplace_back(run, number);
        } catch (const std::exception&) {  // no more threads or memory
            run(number);
        }
    }
    run(0);
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& error : errors)
        if (error) std::rethrow_exception(error);
}

void check_starts_of(const LeafArrays& leaves) {
    const std::size_t n_trees = leaves.leaf_start.size() - 1, n_members = leaves.members.size();
    require(!leaves.leaf_start.empty() && n_trees > 0, "there is no tree");
    require(are_starts(leaves.leaf_start, leaves.member_start.size()), "leaves do not add up");
    require(leaves.tree_members.size() == n_trees + 1 && are_starts(leaves.tree_members, n_members),
            "members do not add up");
    require(leaves.counts.empty() || leaves.counts.size() == n_members, "a weight is missing");
    require(leaves.weights.empty() || leaves.weights.size() == n_members, "a weight is missing");
    const auto of_trees = leaves.tree_weights;
    require(of_trees.empty() || of_trees.size() == n_trees, "a weight of a tree is missing");
    require(all_of(of_trees.size(),
                   [&](std::size_t i) { return (of_trees[i] > 0) & (of_trees[i] <= 1); }),
            "a weight of a tree is not above 0 and at most 1");
}

void check_leaves(const LeafArrays& leaves, const Part& part) {
    const std::size_t n_trees = leaves.leaf_start.size() - 1;
    for (std::size_t tree = part.first(n_trees); tree < part.first(n_trees, 1); ++tree) {
        const auto first = static_cast<std::size_t>(leaves.leaf_start[tree]);
        const auto last = static_cast<std::size_t>(leaves.leaf_start[tree + 1]);
        require(last >= first + 2, "a tree lacks leaves");
        const auto starts = leaves.member_start.subspan(first, last - first);
        const auto n_own = leaves.tree_members[tree + 1] - leaves.tree_members[tree];
        require(starts.front() == 0 && starts.back() == n_own, "a leaf lacks members");
        require(all_of(starts.size() - 1, [&](std::size_t i) { return starts[i] < starts[i + 1]; }),
                "a leaf is empty");
    }
    require(are_below(part.share(leaves.members), leaves.n_rows), "members are out of range");
    // Without rows, or with weights of 0 alone, averages would be NaN.
    const auto counts = part.share(leaves.counts);
    require(all_of(counts.size(), [&](std::size_t i) { return counts[i] > 0; }),
            "a weight is not above 0");
    const auto weights = part.share(leaves.weights);
    constexpr double most = std::numeric_limits<double>::max();
    require(all_of(weights.size(),
                   [&](std::size_t i) { return (weights[i] > 0) & (weights[i] <= most); }),
            "a weight is not above 0");
}

void check_trees(const ForestArrays& forest, const Part& part) {
    const auto& leaf_start = forest.leaves.leaf_start;
    const std::size_t n_trees = forest.depths.size();
    Descent descent;
    for (std::size_t tree = part.first(n_trees); tree < part.first(n_trees, 1); ++tree) {
        const auto first = static_cast<std::size_t>(forest.node_start[tree]);
        const auto n_own = static_cast<std::size_t>(forest.node_start[tree + 1]) - first;
        require(leaf_start[tree + 1] - leaf_start[tree] == static_cast<std::int64_t>(n_own) + 2,
                "a tree lacks leaves");
        const Node* const nodes = forest.nodes.data() + first;
        require(are_splits(nodes, n_own, forest.n_features),
                "a feature does not exist, or a threshold is NaN");
        const std::int32_t depth = descent.depth(nodes, n_own);
        require(depth >= 0, "a node does not have exactly one parent");
        require(depth == forest.depths[tree], "a tree has another depth");
    }
    require(are_numbers(part.share(forest.wide_thresholds)), "a threshold is NaN");
    require(are_numbers(part.share(forest.gains)), "a gain is NaN");
}

void check_directions(const ForestArrays& forest) {
    const auto& start = forest.direction_start;
    const std::size_t n_entries = forest.direction_columns.size();
    constexpr const char* reason = "directions do not fit the trees";
    constexpr std::uint16_t exponent = 0x7f80;  // all of its bits: infinity or NaN
    require(start.size() == forest.nodes.size() + 1 && are_starts(start, n_entries), reason);
    require(forest.direction_weights.size() == n_entries, reason);
    require(are_below(forest.direction_columns, forest.n_features), reason);
    require(
        all_of(n_entries,
               [&](std::size_t i) { return (forest.direction_weights[i] & exponent) != exponent; }),
        reason);
    require(forest.is_oblique.size() == forest.depths.size(), reason);
    for (std::size_t tree = 0; tree < forest.is_oblique.size(); ++tree) {
        const std::int64_t first = start[forest.node_start[tree]];
        const bool has_some = start[forest.node_start[tree + 1]] > first;
        require(forest.is_oblique[tree] == 1 || (forest.is_oblique[tree] == 0 && !has_some),
                reason);
    }
}

}  // namespace

Leaves LeafArrays::view() const {
    Leaves leaves;
    leaves.n_trees = leaf_start.size() - 1;
    leaves.leaf_start = leaf_start.data();
    leaves.member_start = member_start.data();
    leaves.tree_members = tree_members.data();
    leaves.members = members.data();
    if (!counts.empty()) leaves.counts = counts.data();
    if (!weights.empty()) leaves.weights = weights.data();
    if (!tree_weights.empty()) leaves.tree_weights = tree_weights.data();
    return leaves;
}

Trees ForestArrays::view() const {
    Trees trees;
    trees.n_trees = depths.size();
    trees.nodes = nodes.data();
    if (!wide_thresholds.empty()) trees.wide_thresholds = wide_thresholds.data();
    trees.node_start = node_start.data();
    if (!is_oblique.empty()) trees.is_oblique = is_oblique.data();
    return trees;
}

ObliqueTrees ForestArrays::oblique_view() const {
    const bool has_some = !is_oblique.empty();  // else directions were not checked
    return {depths.size(),
            nodes.data(),
            node_start.data(),
            has_some ? direction_start.data() : nullptr,
            direction_columns.data(),
            direction_weights.data(),
            has_some ? is_oblique.data() : nullptr};
}

void check(const LeafArrays& leaves) {
    check_starts_of(leaves);
    check_leaves(leaves, {});
}

void check(const ForestArrays& forest, std::size_t n_threads) {
    const std::size_t n_trees = forest.depths.size(), n_nodes = forest.nodes.size();
    require(forest.leaves.leaf_start.size() == n_trees + 1 &&
                forest.node_start.size() == n_trees + 1 && are_starts(forest.node_start, n_nodes),
            "nodes do not add up");
    check_starts_of(forest.leaves);
    require(forest.n_features <= most_features, "there are too many features");
    require(forest.wide_thresholds.empty() || forest.wide_thresholds.size() == n_nodes,
            "a threshold is missing");
    require(forest.gains.empty() || forest.gains.size() == n_nodes, "a gain is missing");
    constexpr std::size_t worth_a_thread = 1 << 16;  // nodes and members: a tenth of a millisecond
    const std::size_t n_parts = (n_nodes + forest.leaves.members.size()) / worth_a_thread;
    in_parts(std::clamp<std::size_t>(n_parts, 1, std::max<std::size_t>(n_threads, 1)),
             [&](const Part& part) {
                 check_leaves(forest.leaves, part);
                 check_trees(forest, part);
             });
    if (!forest.is_oblique.empty() || !forest.direction_start.empty()) check_directions(forest);
}

}  // namespace sketchforest
