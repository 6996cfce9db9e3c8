#include "bag.hpp"
#include "grower.hpp"
#include "joining.hpp"
#include "kernels.hpp"
#include "owned_arrays.hpp"
#include "stop.hpp"

namespace sketchforest {
namespace {

// How many outputs, padded, the vector kernels take.
bool is_padded(std::size_t width) {
    return width == 1 || width == 4 || (width && width % 8 == 0);
}

nb::object project(const OwnedSparseRows& labels, Vector<std::int32_t> rows, Matrix<float> p) {
    const SparseRows& y = labels.rows;
    require(p.shape(0) == y.n_columns && is_padded(p.shape(1)), "P has another shape");
    return filled_matrix<float>(rows.size(), p.shape(1), [&](float* z) {
        check_rows(to_span(rows), labels.n_rows);
        kernels().project(
            {y.row_start, y.columns, y.values, rows.data(), rows.size(), p.data(), p.shape(1), z});
    });
}

nb::tuple draw_rows(std::uint64_t key, std::uint32_t n_rows, std::uint64_t n_draws) {
    require(0 < n_rows && n_rows <= std::numeric_limits<std::int32_t>::max(),
            "there must be rows to draw from, at most 2147483647");
    require(n_draws <= std::numeric_limits<std::uint32_t>::max(),
            "there must be at most 4294967295 draws");
    auto drawn = without_gil([&] { return draw_with_replacement(key, n_rows, n_draws); });
    return to_arrays(drawn.rows, drawn.counts);
}

using DenseOutputs = Aligned<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Dense outputs have a row for each row of the bag, sparse ones for each training row.
Outputs to_outputs(const DenseOutputs& z, const Bag& bag, Impurity impurity) {
    require(z.shape(0) == bag.rows.size(), "outputs must have a row for each row of the tree");
    require(impurity == Impurity::variance ? is_padded(z.shape(1)) : z.shape(1) > 0,
            "outputs have another shape");
    Outputs outputs;
    outputs.z = z.data();
    outputs.wide = z.dtype() == nb::dtype<double>();
    outputs.stride = z.shape(1);
    require(outputs.wide || z.dtype() == nb::dtype<float>(), "outputs must be floats or doubles");
    if (outputs.wide)
        check_outputs({static_cast<const double*>(z.data()), z.size()}, impurity);
    else
        check_outputs({static_cast<const float*>(z.data()), z.size()}, impurity);
    return outputs;
}
Outputs to_outputs(const OwnedSparseRows& labels, const Bag& bag, Impurity impurity) {
    require(impurity != Impurity::absolute_error, "medians need dense outputs");
    check_rows(bag.rows, labels.n_rows);
    Outputs outputs;
    outputs.sparse = labels.rows;
    return outputs;
}

// Nodes, thresholds, gains, starts of leaves, positions of their members in the bag, parts, depth,
// and directions; None where `stop` was set before the tree was finished.
template <class Grow>
nb::object grow_tree(const Vector<std::int32_t>& rows, const Vector<double>& weights,
                     std::size_t n_rows, const StopFlag& flag, Grow grow) {
    const Bag bag{to_span(rows), to_span(weights)};
    ObliqueTree grown = unless_stopped(flag, [&](Stop& stop) -> ObliqueTree {
        check(bag, n_rows);
        return grow(bag, stop);
    });
    auto& [tree, directions] = grown;
    if (tree.leaf_start.empty()) return nb::none();
    return nb::make_tuple(to_array<std::int32_t>(std::move(tree.nodes)),
                          to_array(std::move(tree.wide_thresholds)),
                          to_array(std::move(tree.gains)), to_array(std::move(tree.leaf_start)),
                          to_array<std::int32_t>(std::move(tree.members)),
                          to_array<std::int32_t>(std::move(tree.parts)), tree.depth,
                          to_arrays(directions.start, directions.columns, directions.weights));
}

template <class From>
nb::object grow_axis_aligned(const OwnedCodes& codes, const From& outputs_from,
                             Vector<std::int32_t> rows, Vector<double> weights,
                             const GrowParams& params, const StopFlag& flag) {
    check(params, codes.codes.n_features);
    return grow_tree(rows, weights, codes.codes.n_rows, flag, [&](const Bag& bag, Stop& stop) {
        const Outputs outputs = to_outputs(outputs_from, bag, params.impurity);
        return ObliqueTree{grow(codes.codes, outputs, bag, params, stop), {}};
    });
}

nb::object grow_along_directions(const OwnedFloatRows& x, Matrix<float> z,
                                 Vector<std::int32_t> rows, Vector<double> weights,
                                 const ObliqueParams& params, const StopFlag& flag) {
    require(z.shape(0) == rows.size() && z.shape(1) > 0 && z.shape(1) % 8 == 0,
            "outputs have another shape");
    check(params);
    return grow_tree(rows, weights, x.rows.n_rows, flag, [&](const Bag& bag, Stop& stop) {
        check_finite({z.data(), z.size()});
        return grow_oblique(x.rows, z.data(), z.shape(1), bag, params, stop);
    });
}

nb::tuple join(const OwnedForest& forest, Matrix<std::int64_t> places) {
    require(places.shape(1) == 2, "a part has a tree and a leaf");
    const auto* first = reinterpret_cast<const PartPlace*>(places.data());
    auto joined = without_gil(
        [&] { return join_parts(forest.trees, forest.leaves, {first, places.shape(0)}); });
    return nb::make_tuple(to_array<std::int32_t>(std::move(joined.nodes)),
                          to_array(std::move(joined.member_start)),
                          to_array(std::move(joined.members)));
}

}  // namespace

void bind_growing(nb::module_& m) {
    nb::enum_<Impurity>(m, "Impurity")
        .value("variance", Impurity::variance)
        .value("entropy", Impurity::entropy)
        .value("label_entropy", Impurity::label_entropy)
        .value("poisson", Impurity::poisson)
        .value("absolute_error", Impurity::absolute_error);
    nb::class_<PartSizes>(m, "PartSizes")
        .def(nb::init<std::uint32_t, std::uint32_t>(), "least"_a, "most"_a);
    nb::class_<TreeLimits>(m, "TreeLimits")
        .def_rw("max_depth", &TreeLimits::max_depth)
        .def_rw("min_samples_split", &TreeLimits::min_samples_split)
        .def_rw("min_samples_leaf", &TreeLimits::min_samples_leaf)
        .def_rw("min_weight_leaf", &TreeLimits::min_weight_leaf)
        .def_rw("min_gain", &TreeLimits::min_gain)
        .def_rw("max_leaf_nodes", &TreeLimits::max_leaf_nodes)
        .def_rw("parts", &TreeLimits::parts)
        .def_rw("key", &TreeLimits::key);
    nb::class_<GrowParams, TreeLimits>(m, "GrowParams")
        .def(nb::init<>())
        .def_rw("impurity", &GrowParams::impurity)
        .def_rw("max_features", &GrowParams::max_features)
        .def_rw("random_cuts", &GrowParams::random_cuts)
        .def_rw("n_threads", &GrowParams::n_threads)
        .def_rw("shared_rows", &GrowParams::shared_rows)
        .def_rw("piece_rows", &GrowParams::piece_rows)
        .def_rw("binned_rows", &GrowParams::binned_rows);
    nb::class_<ObliqueParams, TreeLimits>(m, "ObliqueParams")
        .def(nb::init<>())
        .def_rw("ridge", &ObliqueParams::ridge)
        .def_rw("n_steps", &ObliqueParams::n_steps)
        .def_rw("n_power_steps", &ObliqueParams::n_power_steps)
        .def_rw("n_refinements", &ObliqueParams::n_refinements)
        .def_rw("min_side", &ObliqueParams::min_side)
        .def_rw("weights_per_row", &ObliqueParams::weights_per_row)
        .def_rw("n_single_features", &ObliqueParams::n_single_features)
        .def_rw("min_direction_rows", &ObliqueParams::min_direction_rows)
        .def_rw("piece_rows", &ObliqueParams::piece_rows)
        .def_rw("n_threads", &ObliqueParams::n_threads);
    nb::class_<StopFlag>(m, "StopFlag")
        .def(nb::init<>())
        .def("set", [](StopFlag& flag) { flag.is_set = true; })
        .def_prop_ro("is_set", [](const StopFlag& flag) { return flag.is_set.load(); })
        .def("__reduce__", [](nb::handle self) {  // another process has a flag of its own
            return nb::make_tuple(self.type(), nb::make_tuple());
        });
    m.def("draw_rows", &draw_rows, "key"_a, "n_rows"_a, "n_draws"_a);
    m.def("project", &project, "labels"_a, "rows"_a, "p"_a);
    const auto bind = [&](const char* name, auto function, const char* x, const char* outputs) {
        m.def(name, function, nb::arg(x), nb::arg(outputs), "rows"_a, "weights"_a, "params"_a,
              "stop"_a);
    };
    bind("grow", &grow_axis_aligned<OwnedSparseRows>, "codes", "outputs");
    bind("grow", &grow_axis_aligned<DenseOutputs>, "codes", "outputs");
    m.def("join_parts", &join, "forest"_a, "places"_a);
    bind("grow_oblique", &grow_along_directions, "x", "z");
}

}  // namespace sketchforest
