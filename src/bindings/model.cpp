// The fitted model, and the labels that it averages.
#include "held.hpp"
#include "native_work.hpp"

namespace sketchforest {

HeldSparseRows::HeldSparseRows(Vector<std::int64_t> row_start, Vector<std::int32_t> columns,
                               Maybe<Vector<float>> values, std::size_t n_columns)
    : row_start(std::move(row_start)), columns(std::move(columns)), values(std::move(values)) {
    const std::size_t n_entries = this->columns.size();
    require(this->row_start.size() > 0, "labels do not add up");
    require(!this->values || this->values->size() == n_entries, "labels have another shape");
    rows = {this->row_start.data(), this->columns.data(),
            this->values ? this->values->data() : nullptr, n_columns};
    const NativeWork work;
    check(rows, n_rows(), n_entries);
}

LeafArrays HeldLeaves::Given::arrays() const {
    LeafArrays arrays{to_span(leaf_start),
                      to_span(tree_members),
                      to_span(member_start),
                      to_span(members),
                      {},
                      {},
                      n_rows};
    if (!weights) return arrays;
    require(weights->size() == members.size(), "weights have another shape");
    if (weights->dtype() == nb::dtype<std::uint8_t>())
        arrays.counts = {static_cast<const std::uint8_t*>(weights->data()), weights->size()};
    else if (weights->dtype() == nb::dtype<double>())
        arrays.weights = {static_cast<const double*>(weights->data()), weights->size()};
    else
        throw nb::type_error("weights must be bytes or doubles");
    return arrays;
}

HeldLeaves::HeldLeaves(Given own, bool is_all) : given(std::move(own)) {
    const LeafArrays arrays = given.arrays();
    if (is_all) {
        const NativeWork work;
        check(arrays);
    }
    leaves = arrays.view();
}

HeldForest::HeldForest(Given own, GivenTrees own_trees)
    : HeldLeaves(std::move(own), false), given_trees(std::move(own_trees)) {
    const GivenTrees& from = given_trees;
    require(from.nodes.shape(1) == 4, "nodes have another shape");
    ForestArrays arrays{given.arrays(),
                        to_span(from.node_start),
                        {reinterpret_cast<const Node*>(from.nodes.data()), from.nodes.shape(0)},
                        to_span(from.thresholds),
                        to_span(from.gains),
                        to_span(from.depths),
                        to_span(from.direction_start),
                        to_span(from.direction_columns),
                        to_span(from.direction_weights),
                        to_span(from.is_oblique),
                        from.n_features};
    const std::size_t n_nodes = from.nodes.shape(0);
    require(!from.thresholds || from.thresholds->size() == n_nodes, "a threshold is missing");
    require(!from.gains || from.gains->size() == n_nodes, "a gain is missing");
    require(!from.is_oblique || from.is_oblique->size() > 0, "directions do not fit the trees");
    {
        const NativeWork work;
        check(arrays);
    }
    trees = arrays.view();
    oblique = arrays.oblique_view();
}

Trees HeldForest::trees_with_zero_chains() const {
    std::call_once(zero_chains_found_, [this] { zero_chains_ = find_zero_chains(trees); });
    Trees found = trees;
    if (!zero_chains_.empty()) found.zero_chains = zero_chains_.data();
    return found;
}

namespace {

HeldLeaves::Given take_leaves(Vector<std::int64_t> leaf_start, Vector<std::int64_t> tree_members,
                              Vector<std::uint32_t> member_start, Vector<std::int32_t> members,
                              Maybe<HeldLeaves::Weights> weights, std::size_t n_rows) {
    return {std::move(leaf_start), std::move(tree_members), std::move(member_start),
            std::move(members),    std::move(weights),      n_rows};
}

void bind_sparse_rows(nb::module_& m) {
    using Rows = HeldSparseRows;
    nb::class_<Rows>(m, "SparseRows")
        .def(nb::init<Vector<std::int64_t>, Vector<std::int32_t>, Maybe<Vector<float>>,
                      std::size_t>(),
             "row_start"_a.noconvert(), "columns"_a.noconvert(), "values"_a.noconvert().none(),
             "n_columns"_a)
        .def_prop_ro("row_start", [](const Rows& self) { return shown(self.row_start, self); })
        .def_prop_ro("columns", [](const Rows& self) { return shown(self.columns, self); })
        .def_prop_ro("values", [](const Rows& self) { return shown(self.values, self); })
        .def_prop_ro("n_columns", [](const Rows& self) { return self.rows.n_columns; })
        .def_prop_ro("n_rows", &Rows::n_rows);
}

void bind_leaves(nb::module_& m) {
    using Held = HeldLeaves;
    const auto show = [](auto array) {
        return [array](const Held& self) { return shown(self.given.*array, self); };
    };
    nb::class_<Held>(m, "Leaves")
        .def(
            "__init__",
            [](Held* self, Vector<std::int64_t> leaf_start, Vector<std::int64_t> tree_members,
               Vector<std::uint32_t> member_start, Vector<std::int32_t> members,
               Maybe<Held::Weights> weights, std::size_t n_rows) {
                new (self) Held(
                    take_leaves(leaf_start, tree_members, member_start, members, weights, n_rows));
            },
            nb::kw_only(), "leaf_start"_a.noconvert(), "tree_members"_a.noconvert(),
            "member_start"_a.noconvert(), "members"_a.noconvert(), "weights"_a.noconvert().none(),
            "n_rows"_a)
        .def_prop_ro("n_trees", [](const Held& self) { return self.leaves.n_trees; })
        .def_prop_ro("n_rows", [](const Held& self) { return self.given.n_rows; })
        .def_prop_ro("leaf_start", show(&Held::Given::leaf_start))
        .def_prop_ro("tree_members", show(&Held::Given::tree_members))
        .def_prop_ro("member_start", show(&Held::Given::member_start))
        .def_prop_ro("members", show(&Held::Given::members))
        .def_prop_ro("weights", show(&Held::Given::weights));
}

void bind_forest(nb::module_& m) {
    using Held = HeldForest;
    const auto show = [](auto array) {
        return [array](const Held& self) { return shown(self.given_trees.*array, self); };
    };
    nb::class_<Held, HeldLeaves>(m, "Forest")
        .def(
            "__init__",
            [](Held* self, Matrix<std::int32_t> nodes, Maybe<Vector<double>> thresholds,
               Maybe<Vector<float>> gains, Vector<std::uint32_t> member_start,
               Vector<std::int32_t> members, Maybe<Held::Weights> weights,
               Vector<std::int32_t> depths, Vector<std::int64_t> node_start,
               Vector<std::int64_t> leaf_start, Vector<std::int64_t> tree_members,
               Maybe<Vector<std::int64_t>> direction_start,
               Maybe<Vector<std::int32_t>> direction_columns,
               Maybe<Vector<std::uint16_t>> direction_weights,
               Maybe<Vector<std::uint8_t>> is_oblique, std::size_t n_features, std::size_t n_rows) {
                new (self) Held(
                    take_leaves(leaf_start, tree_members, member_start, members, weights, n_rows),
                    {nodes, thresholds, gains, depths, node_start, n_features, direction_start,
                     direction_columns, direction_weights, is_oblique});
            },
            nb::kw_only(), "nodes"_a.noconvert(), "thresholds"_a.noconvert().none(),
            "gains"_a.noconvert().none(), "member_start"_a.noconvert(), "members"_a.noconvert(),
            "weights"_a.noconvert().none(), "depths"_a.noconvert(), "node_start"_a.noconvert(),
            "leaf_start"_a.noconvert(), "tree_members"_a.noconvert(),
            "direction_start"_a.noconvert().none() = nb::none(),
            "direction_columns"_a.noconvert().none() = nb::none(),
            "direction_weights"_a.noconvert().none() = nb::none(),
            "is_oblique"_a.noconvert().none() = nb::none(), "n_features"_a, "n_rows"_a)
        .def_prop_ro("n_features", [](const Held& self) { return self.given_trees.n_features; })
        .def_prop_ro("nodes", show(&Held::GivenTrees::nodes))
        .def_prop_ro("thresholds", show(&Held::GivenTrees::thresholds))
        .def_prop_ro("gains", show(&Held::GivenTrees::gains))
        .def_prop_ro("depths", show(&Held::GivenTrees::depths))
        .def_prop_ro("node_start", show(&Held::GivenTrees::node_start))
        .def_prop_ro("direction_start", show(&Held::GivenTrees::direction_start))
        .def_prop_ro("direction_columns", show(&Held::GivenTrees::direction_columns))
        .def_prop_ro("direction_weights", show(&Held::GivenTrees::direction_weights))
        .def_prop_ro("is_oblique", show(&Held::GivenTrees::is_oblique))
        .def_prop_ro("zero_chains", [](const Held& self) -> nb::object {
            const std::uint32_t* chains = self.trees_with_zero_chains().zero_chains;
            if (!chains) return nb::none();
            const std::size_t n_nodes = self.given_trees.nodes.shape(0);
            return nb::ndarray<nb::numpy, const std::uint32_t>(chains, {n_nodes}, nb::find(self))
                .cast();
        });
}

}  // namespace

void bind_model(nb::module_& m) {
    bind_sparse_rows(m);
    bind_leaves(m);
    bind_forest(m);
}

}  // namespace sketchforest
