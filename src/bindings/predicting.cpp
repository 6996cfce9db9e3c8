#include "arrays.hpp"
#include "check.hpp"
#include "checksum.hpp"
#include "forest.hpp"
#include "medians.hpp"
#include "native_work.hpp"

namespace sketchforest {
namespace {

Trees to_trees(nb::handle from) {
    Trees trees;
    trees.n_trees = nb::cast<std::size_t>(from.attr("n_trees"));
    trees.nodes =
        reinterpret_cast<const Node*>(view<Matrix<std::int32_t>>(from.attr("nodes")).data());
    trees.wide_thresholds = pointer_or_null<double>(from.attr("thresholds"));
    trees.node_start = pointer_or_null<std::int64_t>(from.attr("node_start"));
    const nb::object directions = from.attr("directions");
    if (!directions.is_none())
        trees.is_oblique = pointer_or_null<std::uint8_t>(directions.attr("is_oblique"));
    return trees;
}

nb::object leaves_dense(nb::handle forest, const AnyMatrix& x) {
    const Trees trees = to_trees(forest);
    const std::size_t n_rows = x.shape(0);
    auto [leaves, array] = new_matrix<std::int32_t>(n_rows, trees.n_trees);
    const auto find = [&](auto zero) {
        using T = decltype(zero);
        const NativeWork work;
        find_leaves<T>(trees, {static_cast<const T*>(x.data()), x.stride(0), x.stride(1), n_rows},
                       leaves);
    };
    if (x.dtype() == nb::dtype<float>())
        find(float{});
    else if (x.dtype() == nb::dtype<double>())
        find(double{});
    else
        throw nb::type_error("X must be of floats or doubles");
    return array;
}

template <class T>
nb::object leaves_sparse(nb::handle forest, Vector<T> values, Vector<std::int32_t> columns,
                         Vector<std::int64_t> row_start, std::size_t n_features) {
    Trees trees = to_trees(forest);
    trees.zero_chains = pointer_or_null<std::uint32_t>(forest.attr("zero_chains"));
    const std::size_t n_rows = row_start.size() - 1;
    auto [leaves, array] = new_matrix<std::int32_t>(n_rows, trees.n_trees);
    {
        const NativeWork work;
        find_leaves<T>(trees, {values.data(), columns.data(), row_start.data(), n_rows, n_features},
                       leaves);
    }
    return array;
}

nb::object zero_chains(nb::handle forest) {
    const Trees trees = to_trees(forest);
    std::vector<std::uint32_t> found;
    {
        const NativeWork work;
        found = find_zero_chains(trees);
    }
    return found.empty() ? nb::none() : to_array(std::move(found));
}

Leaves to_leaves(nb::handle from) {
    Leaves leaves;
    leaves.n_trees = nb::cast<std::size_t>(from.attr("n_trees"));
    leaves.leaf_start = pointer_or_null<std::int64_t>(from.attr("leaf_start"));
    leaves.member_start = pointer_or_null<std::uint32_t>(from.attr("member_start"));
    leaves.tree_members = pointer_or_null<std::int64_t>(from.attr("tree_members"));
    leaves.members = pointer_or_null<std::int32_t>(from.attr("members"));
    const nb::object weights = from.attr("weights");
    if (!weights.is_none()) {
        if (view<nb::ndarray<nb::ro>>(weights).dtype() == nb::dtype<std::uint8_t>())
            leaves.counts = pointer_or_null<std::uint8_t>(weights);
        else
            leaves.weights = pointer_or_null<double>(weights);
    }
    return leaves;
}

Values to_values(nb::handle from) {
    Values values;
    if (nb::isinstance<nb::ndarray<nb::ro>>(from)) {
        const auto dense = view<Matrix<double>>(from);
        values.dense = dense.data();
        values.n_rows = dense.shape(0);
        values.n_columns = dense.shape(1);
    } else {
        values.sparse = to_sparse_rows(from);
        values.n_rows = nb::cast<std::size_t>(from.attr("n_rows"));
        values.n_columns = values.sparse.n_columns;
    }
    return values;
}

Values to_sparse_values(nb::handle from) {
    const Values values = to_values(from);
    if (values.dense) throw nb::type_error("values must be sparse");
    return values;
}

template <class T>
void average_into(nb::handle forest, nb::handle values_from, Matrix<std::int32_t> leaf_of,
                  nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
    const Leaves leaves = to_leaves(forest);
    const Values values = to_values(values_from);
    const NativeWork work;
    average<T>(leaves, values, leaf_of.data(), leaf_of.shape(0), out.data());
}

nb::tuple average_csr(nb::handle forest, nb::handle values_from, Matrix<std::int32_t> leaf_of,
                      std::size_t k) {
    const Leaves leaves = to_leaves(forest);
    const Values values = to_sparse_values(values_from);
    SparseMean mean;
    {
        const NativeWork work;
        mean = average_sparse(leaves, values, leaf_of.data(), leaf_of.shape(0), k);
    }
    return nb::make_tuple(to_array(std::move(mean.values)), to_array(std::move(mean.columns)),
                          to_array(std::move(mean.row_start)));
}

nb::tuple average_best(nb::handle forest, nb::handle values_from, Matrix<std::int32_t> leaf_of,
                       std::size_t k) {
    const Leaves leaves = to_leaves(forest);
    const Values values = to_sparse_values(values_from);
    const std::size_t n_rows = leaf_of.shape(0);
    auto [columns, columns_array] = new_matrix<std::int32_t>(n_rows, k);
    auto [scores, scores_array] = new_matrix<float>(n_rows, k);
    {
        const NativeWork work;
        average_top(leaves, values, leaf_of.data(), n_rows, k, columns, scores);
    }
    return nb::make_tuple(columns_array, scores_array);
}

nb::object medians(Matrix<double> outputs, Vector<std::int32_t> rows, Vector<double> weights,
                   Vector<std::int64_t> start) {
    auto [out, array] = new_matrix<double>(start.size() - 1, outputs.shape(1));
    {
        const NativeWork work;
        weighted_medians(outputs.data(), outputs.shape(1),
                         {{rows.data(), rows.size()}, weights.data(), {start.data(), start.size()}},
                         out);
    }
    return array;
}

// None where the arrays are a forest and its labels, else what is wrong with them.
nb::object find_damage_in(nb::handle forest, nb::handle labels, std::size_t n_features,
                          std::size_t part, std::size_t n_parts) {
    const Trees trees = to_trees(forest);
    const Leaves leaves = to_leaves(forest);
    const Values values = to_values(labels);
    const auto length = [](nb::handle from, const char* name) {
        return nb::len(nb::object(from.attr(name)));
    };
    Extent extent;
    extent.n_nodes = length(forest, "nodes");
    extent.n_places = length(forest, "member_start");
    extent.n_members = length(forest, "members");
    extent.n_features = n_features;
    extent.depths = pointer_or_null<std::int32_t>(forest.attr("depths"));
    extent.gains = pointer_or_null<float>(forest.attr("gains"));
    if (values.dense) {
        extent.n_rows = nb::len(labels);
    } else {
        extent.n_rows = length(labels, "row_start") - 1;
        extent.n_entries = length(labels, "columns");
    }
    const char* damage = nullptr;
    {
        const NativeWork work;
        damage = find_damage(trees, leaves, values, extent, {part, n_parts});
    }
    return damage ? nb::cast(damage) : nb::none();
}

bool are_directions_in(Vector<std::int32_t> columns, Vector<std::uint16_t> weights,
                       std::size_t n_features) {
    const NativeWork work;
    return are_directions(columns.data(), weights.data(), columns.size(), n_features);
}

std::uint64_t checksum_of(Vector<std::uint8_t> bytes) {
    const NativeWork work;
    return checksum(bytes.data(), bytes.size());
}

}  // namespace

void bind_predicting(nb::module_& m) {
    m.def("zero_chains", &zero_chains, "forest"_a);
    m.def("leaves_dense", &leaves_dense, "forest"_a, "x"_a);
    m.def("leaves_sparse", &leaves_sparse<float>);
    m.def("leaves_sparse", &leaves_sparse<double>);
    m.def("average", &average_into<float>);
    m.def("average", &average_into<double>);
    m.def("average_csr", &average_csr, "forest"_a, "values"_a, "leaves"_a, "k"_a);
    m.def("average_best", &average_best, "forest"_a, "values"_a, "leaves"_a, "k"_a);
    m.def("weighted_medians", &medians, "outputs"_a, "rows"_a, "weights"_a, "start"_a);
    m.def("find_damage", &find_damage_in, "forest"_a, "labels"_a, "n_features"_a, "part"_a = 0,
          "n_parts"_a = 1);
    m.def("are_directions", &are_directions_in, "columns"_a, "weights"_a, "n_features"_a);
    m.def("checksum", &checksum_of, "bytes"_a);
}

}  // namespace sketchforest
