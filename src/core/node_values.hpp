// Means, medians and impurities of the training rows below each node of one tree. All results are
// in the order of the node numbers.
#pragma once

#include "hierarchy.hpp"

namespace sketchforest {

// One tree, and outputs of the training rows.
struct TreeOutputs {
    const Hierarchy& nodes;
    const Leaves& leaves;
    const double* outputs;  // n_outputs for each training row
    std::size_t n_outputs;
};

struct NodeSizes {
    std::vector<std::int64_t> n_rows;
    std::vector<double> weights;  // of these rows
};
NodeSizes node_sizes(const Hierarchy& nodes, const Leaves& leaves);

// The mean or the median of each output: n_outputs for each node.
void node_values(const TreeOutputs& tree, bool takes_medians, double* values);

// The impurity by each output alone, in the same form. `are_labels`: each output is 0 or 1.
void node_impurity(const TreeOutputs& tree, Impurity impurity, bool are_labels, double* found);

}  // namespace sketchforest
