#include "arrays.hpp"
#include "bag.hpp"
#include "grower.hpp"
#include "kernels.hpp"
#include "native_work.hpp"
#include "stop.hpp"

namespace sketchforest {
namespace {

Codes to_codes(nb::handle from) {
    Codes codes;
    codes.n_rows = nb::cast<std::size_t>(from.attr("n_rows"));
    codes.n_features = nb::cast<std::size_t>(from.attr("n_features"));
    codes.row_start = pointer_or_null<std::int64_t>(from.attr("row_start"));
    codes.columns = pointer_or_null<std::int32_t>(from.attr("columns"));
    codes.column_size = pointer_or_null<std::int32_t>(from.attr("column_size"));
    codes.zero_code = pointer_or_null<std::uint32_t>(from.attr("zero_code"));
    codes.sparse = codes.row_start != nullptr;
    codes.by_value = nb::cast<bool>(from.attr("by_value"));
    codes.value_start = pointer_or_null<std::int64_t>(from.attr("value_start"));
    const auto values = view<nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig>>(from.attr("values"));
    codes.values = values.data();
    codes.wide_values = values.dtype() == nb::dtype<double>();
    codes.code_bytes = 0;
    if (!from.attr("codes").is_none()) {
        const auto array = view<nb::ndarray<nb::ro, nb::c_contig>>(from.attr("codes"));
        codes.codes = array.data();
        codes.code_bytes = static_cast<int>(array.itemsize());
    }
    if (!from.attr("row_codes").is_none())
        codes.row_codes =
            view<nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig>>(from.attr("row_codes")).data();
    return codes;
}

nb::object project(nb::handle labels, Vector<std::int32_t> rows, Matrix<float> p) {
    const SparseRows y = to_sparse_rows(labels);
    auto [z, array] = new_matrix<float>(rows.size(), p.shape(1));
    {
        const NativeWork work;
        kernels().project(
            {y.row_start, y.columns, y.values, rows.data(), rows.size(), p.data(), p.shape(1), z});
    }
    return array;
}

nb::tuple draw_rows(std::uint64_t key, std::uint32_t n_rows, std::uint64_t n_draws) {
    DrawnRows drawn;
    {
        const NativeWork work;
        drawn = draw_with_replacement(key, n_rows, n_draws);
    }
    return nb::make_tuple(to_array(std::move(drawn.rows)), to_array(std::move(drawn.counts)));
}

// None where `stop` was set before the tree was finished.
nb::object grow_tree(nb::handle codes_from, nb::handle outputs_from, Vector<std::int32_t> rows,
                     Vector<double> weights, const GrowParams& params, const StopFlag& flag) {
    const Codes codes = to_codes(codes_from);
    Outputs outputs;
    if (nb::isinstance<nb::ndarray<nb::ro>>(outputs_from)) {
        const auto z = view<nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig>>(outputs_from);
        outputs.z = z.data();
        outputs.wide = z.dtype() == nb::dtype<double>();
        outputs.stride = z.shape(1);
    } else {
        outputs.sparse = to_sparse_rows(outputs_from);
    }
    const Bag bag{{rows.data(), rows.size()}, {weights.data(), weights.size()}};
    PythonStop stop(flag);
    Tree tree;
    {
        const NativeWork work;
        tree = grow(codes, outputs, bag, params, stop);
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
    nb::class_<GrowParams>(m, "GrowParams")
        .def(nb::init<>())
        .def_rw("impurity", &GrowParams::impurity)
        .def_rw("max_features", &GrowParams::max_features)
        .def_rw("random_cuts", &GrowParams::random_cuts)
        .def_rw("max_depth", &GrowParams::max_depth)
        .def_rw("min_samples_split", &GrowParams::min_samples_split)
        .def_rw("min_samples_leaf", &GrowParams::min_samples_leaf)
        .def_rw("min_weight_leaf", &GrowParams::min_weight_leaf)
        .def_rw("min_gain", &GrowParams::min_gain)
        .def_rw("max_leaf_nodes", &GrowParams::max_leaf_nodes)
        .def_rw("parts", &GrowParams::parts)
        .def_rw("key", &GrowParams::key);
    nb::class_<StopFlag>(m, "StopFlag")
        .def(nb::init<>())
        .def("set", [](StopFlag& flag) { flag.is_set = true; })
        .def("__reduce__", [](nb::handle self) {  // another process has a flag of its own
            return nb::make_tuple(self.type(), nb::make_tuple());
        });
    m.def("draw_rows", &draw_rows, "key"_a, "n_rows"_a, "n_draws"_a);
    m.def("project", &project, "labels"_a, "rows"_a, "p"_a);
    m.def("grow", &grow_tree, "codes"_a, "outputs"_a, "rows"_a, "weights"_a, "params"_a, "stop"_a);
}

}  // namespace sketchforest
