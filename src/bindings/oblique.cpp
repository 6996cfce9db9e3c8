#include "oblique.hpp"

#include "arrays.hpp"
#include "levels.hpp"
#include "native_work.hpp"
#include "stop.hpp"

namespace sketchforest {
namespace {

FloatRows to_float_rows(nb::handle from) {
    FloatRows x;
    x.n_rows = nb::cast<std::size_t>(from.attr("n_rows"));
    x.n_features = nb::cast<std::size_t>(from.attr("n_features"));
    x.row_start = pointer_or_null<std::int64_t>(from.attr("row_start"));
    x.columns = pointer_or_null<std::int32_t>(from.attr("columns"));
    if (x.is_sparse()) {
        x.values = view<Vector<float>>(from.attr("values")).data();
    } else {
        const auto values = view<Matrix<float>>(from.attr("values"));
        x.values = values.data();
        x.stride = values.shape(1);
    }
    return x;
}

// None where `stop` was set before the tree was finished.
nb::object grow_tree(nb::handle x_from, Matrix<float> z, Vector<std::int32_t> rows,
                     Vector<double> weights, const ObliqueParams& params, const StopFlag& flag) {
    const FloatRows x = to_float_rows(x_from);
    const Bag bag{{rows.data(), rows.size()}, {weights.data(), weights.size()}};
    PythonStop stop(flag);
    ObliqueTree grown;
    {
        const NativeWork work;
        grown = grow_oblique(x, z.data(), z.shape(1), bag, params, stop);
    }
    if (stop.signalled()) throw nb::python_error();
    if (grown.tree.leaf_start.empty()) return nb::none();
    Directions& directions = grown.directions;
    return nb::make_tuple(to_tuple(grown.tree), to_array(std::move(directions.start)),
                          to_array(std::move(directions.columns)),
                          to_array(std::move(directions.weights)));
}

// Fills in the leaves of the oblique trees of the forest.
void find_leaves(nb::handle forest, nb::handle x_from,
                 nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu> leaves) {
    const FloatRows x = to_float_rows(x_from);
    const nb::object directions = forest.attr("directions");
    ObliqueTrees trees;
    trees.n_trees = nb::cast<std::size_t>(forest.attr("n_trees"));
    trees.nodes =
        reinterpret_cast<const Node*>(view<Matrix<std::int32_t>>(forest.attr("nodes")).data());
    trees.node_start = view<Vector<std::int64_t>>(forest.attr("node_start")).data();
    trees.direction_start = view<Vector<std::int64_t>>(directions.attr("start")).data();
    trees.columns = view<Vector<std::int32_t>>(directions.attr("columns")).data();
    trees.weights = view<Vector<std::uint16_t>>(directions.attr("weights")).data();
    trees.is_oblique = view<Vector<std::uint8_t>>(directions.attr("is_oblique")).data();
    const NativeWork work;
    find_oblique_leaves(trees, x, leaves.data());
}

template <class T>
void levels(nb::ndarray<const T, nb::ndim<2>, nb::device::cpu> x, Vector<std::int64_t> level_start,
            Vector<double> bounds, Vector<float> levels,
            nb::ndarray<float, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
    const NativeWork work;
    find_levels<T>({x.shape(1), level_start.data(), bounds.data(), levels.data()}, x.data(),
                   x.stride(0), x.stride(1), x.shape(0), out.data(), out.shape(1));
}

}  // namespace

void bind_oblique(nb::module_& m) {
    nb::class_<ObliqueParams>(m, "ObliqueParams")
        .def(nb::init<>())
        .def_rw("max_depth", &ObliqueParams::max_depth)
        .def_rw("min_samples_split", &ObliqueParams::min_samples_split)
        .def_rw("min_samples_leaf", &ObliqueParams::min_samples_leaf)
        .def_rw("min_weight_leaf", &ObliqueParams::min_weight_leaf)
        .def_rw("min_gain", &ObliqueParams::min_gain)
        .def_rw("max_leaf_nodes", &ObliqueParams::max_leaf_nodes)
        .def_rw("parts", &ObliqueParams::parts)
        .def_rw("key", &ObliqueParams::key)
        .def_rw("ridge", &ObliqueParams::ridge)
        .def_rw("n_steps", &ObliqueParams::n_steps)
        .def_rw("n_power_steps", &ObliqueParams::n_power_steps)
        .def_rw("n_refinements", &ObliqueParams::n_refinements)
        .def_rw("min_side", &ObliqueParams::min_side)
        .def_rw("weights_per_row", &ObliqueParams::weights_per_row);
    m.def("grow_oblique", &grow_tree, "x"_a, "z"_a, "rows"_a, "weights"_a, "params"_a, "stop"_a);
    m.def("find_levels", &levels<float>);
    m.def("find_levels", &levels<double>);
    m.def("leaves_oblique", &find_leaves, "forest"_a, "x"_a, "leaves"_a);
}

}  // namespace sketchforest
