// Which node is above which: arrays, sums, paths, and trees without their weakest splits.
#include "hierarchy.hpp"

#include "held.hpp"
#include "importances.hpp"
#include "native_work.hpp"
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

nb::object sums_of(const Hierarchy& hierarchy, Matrix<double> of_leaves) {
    require(of_leaves.shape(0) == hierarchy.n_leaves, "there must be a row for each leaf");
    auto [sums, array] = new_matrix<double>(hierarchy.n_nodes(), of_leaves.shape(1));
    {
        const NativeWork work;
        add_up(hierarchy, of_leaves.data(), of_leaves.shape(1), sums);
    }
    return array;
}

nb::tuple paths_of(const HeldForest& forest, Matrix<std::int32_t> found) {
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

nb::tuple importances_of(const HeldForest& forest, Vector<float> gains) {
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
        .def_prop_ro("roots", &shown<&Hierarchy::roots>)
        .def_prop_ro("parents", &shown<&Hierarchy::parents>)
        .def_prop_ro("numbers", &shown<&Hierarchy::numbers>)
        .def_prop_ro("member_begin", &shown<&Hierarchy::member_begin>)
        .def_prop_ro("member_end", &shown<&Hierarchy::member_end>)
        .def("add_up", &sums_of, "of_leaves"_a)
        .def("prune", &prune, "costs"_a, "alpha"_a);
    m.def("importances", &importances_of, "forest"_a, "gains"_a);
    m.def("decision_paths", &paths_of, "forest"_a, "found"_a);
}

}  // namespace sketchforest
