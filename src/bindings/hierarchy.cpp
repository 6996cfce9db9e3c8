// Which node is above which: arrays, what nodes have in common, paths, and trees without their
// weakest splits.
#include "hierarchy.hpp"

#include "importances.hpp"
#include "native_work.hpp"
#include "node_values.hpp"
#include "owned_arrays.hpp"
#include "pruning.hpp"

namespace sketchforest {
namespace {

// An array of the hierarchy, which keeps it alive.
template <auto field>
nb::object shown(const Hierarchy& hierarchy) {
    const std::vector<std::int64_t>& array = hierarchy.*field;
    return nb::ndarray<nb::numpy, const std::int64_t>(array.data(), {array.size()},
                                                      nb::find(hierarchy))
        .cast();
}

const Hierarchy& nodes_of_one_tree(const OwnedForest& forest) {
    require(forest.trees.n_trees == 1, "the forest must have one tree");
    return forest.hierarchy();
}

nb::tuple sizes_of(const OwnedForest& forest) {
    const Hierarchy& nodes = nodes_of_one_tree(forest);
    NodeSizes sizes;
    {
        const NativeWork work;
        sizes = node_sizes(nodes, forest.leaves);
    }
    return to_arrays(sizes.n_rows, sizes.weights);
}

// A row of what `find` writes, an output each, for each node of the only tree.
template <class Find>
nb::object of_nodes(const OwnedForest& forest, const Matrix<double>& outputs, Find find) {
    require(outputs.shape(0) == forest.n_rows, "outputs must have a row for each training row");
    const Hierarchy& nodes = nodes_of_one_tree(forest);
    auto [found, array] = new_matrix<double>(nodes.n_nodes(), outputs.shape(1));
    {
        const NativeWork work;
        check_finite({outputs.data(), outputs.size()});
        find(TreeOutputs{nodes, forest.leaves, outputs.data(), outputs.shape(1)}, found);
    }
    return array;
}

nb::object values_of(const OwnedForest& forest, Matrix<double> outputs, bool takes_medians) {
    return of_nodes(forest, outputs, [&](const TreeOutputs& tree, double* values) {
        node_values(tree, takes_medians, values);
    });
}

nb::object impurity_of(const OwnedForest& forest, Matrix<double> outputs, Impurity impurity,
                       bool are_labels) {
    return of_nodes(forest, outputs, [&](const TreeOutputs& tree, double* found) {
        node_impurity(tree, impurity, are_labels, found);
    });
}

nb::tuple paths_of(const OwnedForest& forest, Matrix<std::int32_t> found) {
    require(found.shape(1) == forest.trees.n_trees, "leaves have another shape");
    const Hierarchy& hierarchy = forest.hierarchy();
    Paths paths;
    {
        const NativeWork work;
        check_leaf_numbers(forest.leaves, {found.data(), found.size()});
        paths = decision_paths(hierarchy, forest.leaves, found.data(), found.shape(0));
    }
    return to_arrays(paths.nodes, paths.row_start, paths.first_node);
}

nb::tuple importances_of(const OwnedForest& forest, Vector<float> gains) {
    require(gains.size() == forest.hierarchy().n_inner, "there must be a gain for each split");
    Importances found;
    {
        const NativeWork work;
        found = find_importances(forest.oblique, to_span(gains));
    }
    return to_arrays(found.features, found.sums);
}

nb::tuple prune(const Hierarchy& tree, Vector<double> costs, double alpha) {
    require(costs.size() == tree.n_nodes(), "there must be a cost for each node");
    PruningPath path;
    PrunedTree pruned;
    {
        const NativeWork work;
        path = pruning_path(tree, to_span(costs), alpha);
        pruned = cut_off(tree, path.undone);
    }
    return nb::make_tuple(to_arrays(path.alphas, path.impurities),
                          to_arrays(pruned.kept, pruned.children, pruned.leaf_of), pruned.depth);
}

}  // namespace

void bind_hierarchy(nb::module_& m) {
    nb::class_<Hierarchy>(m, "Hierarchy")
        .def_ro("n_inner", &Hierarchy::n_inner)
        .def_prop_ro("left", &shown<&Hierarchy::left>)
        .def_prop_ro("right", &shown<&Hierarchy::right>)
        .def_prop_ro("numbers", &shown<&Hierarchy::numbers>)
        .def("prune", &prune, "costs"_a, "alpha"_a);
    m.def("importances", &importances_of, "forest"_a, "gains"_a);
    m.def("node_sizes", &sizes_of, "forest"_a);
    m.def("node_values", &values_of, "forest"_a, "outputs"_a, "takes_medians"_a);
    m.def("node_impurity", &impurity_of, "forest"_a, "outputs"_a, "impurity"_a, "are_labels"_a);
    m.def("decision_paths", &paths_of, "forest"_a, "found"_a);
}

}  // namespace sketchforest
