#include "bag.hpp"
#include "grower.hpp"
#include "held.hpp"
#include "kernels.hpp"
#include "native_work.hpp"
#include "stop.hpp"

namespace sketchforest {
namespace {

// How many outputs, padded, the vector kernels take.
bool is_padded(std::size_t width) {
    return width == 1 || width == 4 || (width && width % 8 == 0);
}

nb::object project(const HeldSparseRows& labels, Vector<std::int32_t> rows, Matrix<float> p) {
    const SparseRows& y = labels.rows;
    require(p.shape(0) == y.n_columns && is_padded(p.shape(1)), "P has another shape");
    auto [z, array] = new_matrix<float>(rows.size(), p.shape(1));
    {
        const NativeWork work;
        check_rows(to_span(rows), labels.n_rows);
        kernels().project(
            {y.row_start, y.columns, y.values, rows.data(), rows.size(), p.data(), p.shape(1), z});
    }
    return array;
}

nb::tuple draw_rows(std::uint64_t key, std::uint32_t n_rows, std::uint64_t n_draws) {
    require(0 < n_rows && n_rows <= std::numeric_limits<std::int32_t>::max(),
            "there must be rows to draw from, at most 2147483647");
    require(n_draws <= std::numeric_limits<std::uint32_t>::max(),
            "there must be at most 4294967295 draws");
    DrawnRows drawn;
    {
        const NativeWork work;
        drawn = draw_with_replacement(key, n_rows, n_draws);
    }
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
Outputs to_outputs(const HeldSparseRows& labels, const Bag& bag, Impurity impurity) {
    require(impurity != Impurity::absolute_error, "medians need dense outputs");
    check_rows(bag.rows, labels.n_rows);
    Outputs outputs;
    outputs.sparse = labels.rows;
    return outputs;
}

// None where `stop` was set before the tree was finished.
template <class From>
nb::object grow_tree(const HeldCodes& codes, const From& outputs_from, Vector<std::int32_t> rows,
                     Vector<double> weights, const GrowParams& params, const StopFlag& flag) {
    check(params, codes.codes.n_features);
    const Bag bag{{rows.data(), rows.size()}, {weights.data(), weights.size()}};
    PythonStop stop(flag);
    Tree tree;
    {
        const NativeWork work;
        check(bag, codes.codes.n_rows);
        const Outputs outputs = to_outputs(outputs_from, bag, params.impurity);
        tree = grow(codes.codes, outputs, bag, params, stop);
    }
    if (stop.signalled()) throw nb::python_error();
    if (tree.leaf_start.empty()) return nb::none();
    return to_tuple(tree);
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
        .def_rw("random_cuts", &GrowParams::random_cuts);
    nb::class_<StopFlag>(m, "StopFlag")
        .def(nb::init<>())
        .def("set", [](StopFlag& flag) { flag.is_set = true; })
        .def("__reduce__", [](nb::handle self) {  // another process has a flag of its own
            return nb::make_tuple(self.type(), nb::make_tuple());
        });
    m.def("draw_rows", &draw_rows, "key"_a, "n_rows"_a, "n_draws"_a);
    m.def("project", &project, "labels"_a, "rows"_a, "p"_a);
    m.def("grow", &grow_tree<HeldSparseRows>, "codes"_a, "outputs"_a, "rows"_a, "weights"_a,
          "params"_a, "stop"_a);
    m.def("grow", &grow_tree<DenseOutputs>, "codes"_a, "outputs"_a, "rows"_a, "weights"_a,
          "params"_a, "stop"_a);
}

}  // namespace sketchforest
