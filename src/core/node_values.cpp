#include "node_values.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "weighted_medians.hpp"

namespace sketchforest {
namespace {

// visit(leaf, member) from leaf to leaf, which are counted as nodes are.
template <class Visit>
void each_member(const Hierarchy& nodes, const Leaves& leaves, Visit visit) {
    for (std::size_t leaf = 0; leaf < nodes.n_leaves; ++leaf)
        for (std::int64_t at = leaves.member_start[leaf]; at < leaves.member_start[leaf + 1]; ++at)
            visit(nodes.n_inner + leaf, at);
}

// visit(node, its children), children first.
template <class Visit>
void each_family(const Hierarchy& nodes, Visit visit) {
    for (std::size_t node = nodes.n_inner; node-- > 0;)
        visit(nodes.numbers[node], nodes.numbers[nodes.left[node]],
              nodes.numbers[nodes.right[node]]);
}

const double* outputs_of(const TreeOutputs& tree, std::int64_t row) {
    return tree.outputs + static_cast<std::size_t>(row) * tree.n_outputs;
}

std::vector<double> find_weights(const Hierarchy& nodes, const Leaves& leaves) {
    std::vector<double> weights(nodes.n_nodes());
    each_member(nodes, leaves, [&](std::size_t leaf, std::int64_t member) {
        weights[nodes.numbers[leaf]] += leaves.weight(member);
    });
    each_family(nodes, [&](std::int64_t node, std::int64_t left, std::int64_t right) {
        weights[node] = weights[left] + weights[right];
    });
    return weights;
}

void divide(const std::vector<double>& weights, std::size_t n_outputs, double* sums) {
    for (const double weight : weights)
        for (std::size_t j = 0; j < n_outputs; ++j) *sums++ /= weight;
}

void find_means(const TreeOutputs& tree, const std::vector<double>& weights, double* means) {
    const std::size_t k = tree.n_outputs;
    std::fill_n(means, weights.size() * k, 0.0);
    each_member(tree.nodes, tree.leaves, [&](std::size_t leaf, std::int64_t member) {
        const double weight = tree.leaves.weight(member);
        const double* const own = outputs_of(tree, tree.leaves.members[member]);
        double* const sums = means + tree.nodes.numbers[leaf] * k;
        for (std::size_t j = 0; j < k; ++j) sums[j] += weight * own[j];
    });
    each_family(tree.nodes, [&](std::int64_t node, std::int64_t left, std::int64_t right) {
        for (std::size_t j = 0; j < k; ++j)
            means[node * k + j] = means[left * k + j] + means[right * k + j];
    });
    divide(weights, k, means);
}

// The members from the left to the right, so that those below a node lie side by side.
struct Members {
    std::vector<std::int32_t> rows;
    std::vector<double> weights;
};
Members in_order(const TreeOutputs& tree) {
    const auto n_members = static_cast<std::size_t>(tree.leaves.tree_members[1]);
    Members members{std::vector<std::int32_t>(n_members), std::vector<double>(n_members)};
    for (std::size_t leaf = 0; leaf < tree.nodes.n_leaves; ++leaf) {
        std::int64_t to = tree.nodes.member_begin[tree.nodes.n_inner + leaf];
        for (std::int64_t at = tree.leaves.member_start[leaf];
             at < tree.leaves.member_start[leaf + 1]; ++at, ++to) {
            members.rows[to] = tree.leaves.members[at];
            members.weights[to] = tree.leaves.weight(at);
        }
    }
    return members;
}

void find_medians(const TreeOutputs& tree, const Members& members, double* medians) {
    const Hierarchy& nodes = tree.nodes;
    for (std::size_t node = 0; node < nodes.n_nodes(); ++node) {
        const std::int64_t group[] = {nodes.member_begin[node], nodes.member_end[node]};
        weighted_medians(tree.outputs, tree.n_outputs,
                         {members.rows, members.weights.data(), group},
                         medians + nodes.numbers[node] * tree.n_outputs);
    }
}

// The weighted mean of the distances of a node's rows from its centre, which it takes the place of.
template <class Distance>
void find_distances(const TreeOutputs& tree, const Members& members,
                    const std::vector<double>& weights, Distance distance, double* centres) {
    const Hierarchy& nodes = tree.nodes;
    const std::size_t k = tree.n_outputs;
    std::vector<double> sums(k);
    for (std::size_t node = 0; node < weights.size(); ++node) {
        double* const centre = centres + nodes.numbers[node] * k;
        std::fill(sums.begin(), sums.end(), 0.0);
        for (std::int64_t at = nodes.member_begin[node]; at < nodes.member_end[node]; ++at) {
            const double* const own = outputs_of(tree, members.rows[at]);
            for (std::size_t j = 0; j < k; ++j)
                sums[j] += members.weights[at] * distance(own[j], centre[j]);
        }
        std::copy(sums.begin(), sums.end(), centre);
    }
    divide(weights, k, centres);
}

double square(double x) {
    return x * x;
}

// Nothing is lost where outputs are alike, however large they are.
void find_variances(const TreeOutputs& tree, const std::vector<double>& weights, double* squares) {
    const std::size_t k = tree.n_outputs;
    std::vector<double> means(weights.size() * k);
    find_means(tree, weights, means.data());
    std::fill_n(squares, means.size(), 0.0);
    each_member(tree.nodes, tree.leaves, [&](std::size_t leaf, std::int64_t member) {
        const std::size_t first = static_cast<std::size_t>(tree.nodes.numbers[leaf]) * k;
        const double weight = tree.leaves.weight(member);
        const double* const own = outputs_of(tree, tree.leaves.members[member]);
        for (std::size_t j = 0; j < k; ++j)
            squares[first + j] += weight * square(own[j] - means[first + j]);
    });
    each_family(tree.nodes, [&](std::int64_t node, std::int64_t left, std::int64_t right) {
        const double between = weights[left] * weights[right] / weights[node];
        for (std::size_t j = 0; j < k; ++j)
            squares[node * k + j] = squares[left * k + j] + squares[right * k + j] +
                                    between * square(means[left * k + j] - means[right * k + j]);
    });
    divide(weights, k, squares);
}

double x_log_y(double x, double y) {
    return x == 0 ? 0 : x * std::log(y);
}

double poisson_distance(double output, double mean) {
    if (mean > 0) return x_log_y(output, output / mean);
    return std::numeric_limits<double>::infinity();
}

}  // namespace

NodeSizes node_sizes(const Hierarchy& nodes, const Leaves& leaves) {
    NodeSizes sizes{std::vector<std::int64_t>(nodes.n_nodes()), find_weights(nodes, leaves)};
    for (std::size_t node = 0; node < nodes.n_nodes(); ++node)
        sizes.n_rows[nodes.numbers[node]] = nodes.member_end[node] - nodes.member_begin[node];
    return sizes;
}

void node_values(const TreeOutputs& tree, bool takes_medians, double* values) {
    if (takes_medians)
        find_medians(tree, in_order(tree), values);
    else
        find_means(tree, find_weights(tree.nodes, tree.leaves), values);
}

void node_impurity(const TreeOutputs& tree, Impurity impurity, bool are_labels, double* found) {
    const std::vector<double> weights = find_weights(tree.nodes, tree.leaves);
    if (impurity == Impurity::absolute_error) {
        const Members members = in_order(tree);
        find_medians(tree, members, found);
        const auto distance = [](double output, double median) {
            return std::abs(output - median);
        };
        return find_distances(tree, members, weights, distance, found);
    }
    if (impurity == Impurity::variance && !are_labels) return find_variances(tree, weights, found);
    find_means(tree, weights, found);
    if (impurity == Impurity::poisson)
        return find_distances(tree, in_order(tree), weights, poisson_distance, found);
    const std::span means(found, weights.size() * tree.n_outputs);
    for (double& p : means) switch (impurity) {
            case Impurity::entropy:
                p = -x_log_y(p, p);
                break;
            case Impurity::label_entropy:
                p = -x_log_y(p, p) - x_log_y(1 - p, 1 - p);
                break;
            default:
                p = p * (1 - p);
        }
}

}  // namespace sketchforest
