// Boosted trees, and the scores that they are added to.
#include "boosting.hpp"

#include "native_work.hpp"
#include "owned_arrays.hpp"
#include "stop.hpp"

namespace sketchforest {
namespace {

// X in bins.
struct OwnedBinnedX : OwnedArrays {
    explicit OwnedBinnedX(const nb::kwargs& given) : OwnedArrays(given) {
        constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
        const std::size_t n = bins.n_rows = number("n_rows");
        const std::size_t p = bins.n_features = number("n_features");
        require(0 < n && n <= most && 0 < p && p <= most,
                "there are no rows or features, or too many");
        bins.bin_start = required<std::int64_t>("bin_start", {p + 1}).data();
        std::size_t n_places = 0;
        if (find("row_start")) {
            bins.row_start = pointer<std::int64_t>("row_start", {n + 1});
            const auto places = required<std::uint32_t>("places");
            bins.places = places.data(), n_places = places.size();
            bins.zero_place = required<std::uint32_t>("zero_place", {p}).data();
        } else {
            bins.columns = required<std::uint8_t>("columns", {p, n}).data();
        }
        const NativeWork work;
        check(bins, n_places);
    }
    BinnedX bins;
};

using Rows = Vector<std::uint32_t>;

void check_ascending(std::span<const std::uint32_t> rows, std::size_t n_rows) {
    for (std::size_t i = 0; i < rows.size(); ++i)
        require(rows[i] < n_rows && (i == 0 || rows[i - 1] < rows[i]), "rows must ascend");
}

bool is_stride(std::size_t stride) {
    return stride == 4 || (stride && stride % 8 == 0);
}

// Nodes, gains, the leaf of each row, rows of the bag by leaf, where each leaf begins, and depth.
nb::tuple grow_tree(const OwnedBinnedX& held, Matrix<float> gradients, Rows rows,
                    const BoostParams& params, std::size_t n_threads) {
    const BinnedX& bins = held.bins;
    require(gradients.shape(0) == bins.n_rows && is_stride(gradients.shape(1)),
            "gradients have another shape");
    require(rows.size() > 0, "there are no rows");
    require(0 < params.max_features && params.max_features <= bins.n_features,
            "max_features must be from 1 to the number of features");
    BoostTree tree = unless_stopped(StopFlag(), [&](Stop& stop) {
        check_ascending(to_span(rows), bins.n_rows);
        return grow_boosted(bins, gradients.data(), gradients.shape(1), to_span(rows), params,
                            n_threads, stop);
    });
    return nb::make_tuple(to_array<std::int32_t>(std::move(tree.nodes)),
                          to_array(std::move(tree.gains)), to_array(std::move(tree.leaf_of)),
                          to_array(std::move(tree.rows)), to_array(std::move(tree.leaf_start)),
                          tree.depth);
}

// The scores of the rows, in place, with the truth that they are compared with.
struct OwnedScores : OwnedArrays {
    OwnedScores(OutMatrix<float> values, Loss loss, const nb::kwargs& given)
        : OwnedArrays(given), held_values(values) {
        scores.values = values.data();
        scores.n_rows = values.shape(0), scores.n_outputs = values.shape(1);
        scores.loss = loss;
        scores.weights = pointer<double>("weights", {scores.n_rows});
        if (loss == Loss::squared_error) return;
        scores.labels.row_start = required<std::int64_t>("row_start", {scores.n_rows + 1}).data();
        const auto columns = required<std::int32_t>("columns");
        scores.labels.columns = columns.data();
        scores.labels.n_columns = scores.n_outputs;
        check(scores.labels, scores.n_rows, columns.size());
        if (loss == Loss::cross_entropy) return;
        scores.groups = required<std::int64_t>("groups");
        require(scores.groups.size() > 1 && scores.groups.front() == 0, "groups do not add up");
        check_starts(scores.groups, scores.n_outputs, "groups do not add up");
        for (std::size_t group = 0; group + 1 < scores.groups.size(); ++group)
            require(scores.groups[group] < scores.groups[group + 1], "groups do not add up");
    }
    Scores scores;
    OutMatrix<float> held_values;
};

nb::object sketch(const OwnedScores& held, Rows rows, std::optional<Matrix<float>> p,
                  std::size_t n_threads) {
    const Scores& scores = held.scores;
    const std::size_t n = scores.n_outputs;
    require(!p || (p->shape(0) == n && is_stride(p->shape(1))), "P has another shape");
    const std::size_t own = before_gradients + n;
    const std::size_t stride = p ? p->shape(1) : own <= 4 ? 4 : (own + 7) / 8 * 8;
    return filled_matrix<float>(scores.n_rows, stride, [&](float* z) {
        check_ascending(to_span(rows), scores.n_rows);
        std::fill_n(z, scores.n_rows * stride, 0.0f);
        sketch_scores(scores, to_span(rows), p ? p->data() : nullptr, stride, n_threads, z);
    });
}

nb::tuple leaf_sums(const OwnedScores& held, Rows rows, Vector<std::int64_t> leaf_start,
                    bool squares, std::size_t n_threads) {
    const Scores& scores = held.scores;
    require(leaf_start.size() > 1, "leaves do not add up");
    const std::size_t n_leaves = leaf_start.size() - 1;
    auto [gradients, gradient_array] = new_matrix<double>(n_leaves, scores.n_outputs);
    auto [others, other_array] = new_matrix<double>(n_leaves, scores.n_outputs);
    {
        const NativeWork work;
        check_starts(to_span(leaf_start), rows.size(), "leaves do not add up");
        for (const std::uint32_t row : to_span(rows))
            require(row < scores.n_rows, "a row does not exist");
        sum_leaves(scores, to_span(rows), to_span(leaf_start), squares, n_threads, gradients,
                   others);
    }
    return nb::make_tuple(gradient_array, other_array);
}

void add_values(const OwnedScores& held, Vector<std::int32_t> leaf_of, Matrix<float> values,
                std::size_t n_threads) {
    const Scores& scores = held.scores;
    require(leaf_of.size() == scores.n_rows && values.shape(1) == scores.n_outputs,
            "values have another shape");
    const NativeWork work;
    check_rows(to_span(leaf_of), values.shape(0));
    add_leaf_values(scores, leaf_of.data(), values.data(), n_threads);
}

double losses(const OwnedScores& held, Rows rows, std::size_t n_threads) {
    return without_gil([&] {
        check_ascending(to_span(rows), held.scores.n_rows);
        return sum_losses(held.scores, to_span(rows), n_threads);
    });
}

}  // namespace

void bind_boosting(nb::module_& m) {
    nb::class_<OwnedBinnedX, OwnedArrays>(m, "BinnedX")
        .def("__init__",
             [](OwnedBinnedX* self, const nb::kwargs& given) { new (self) OwnedBinnedX(given); });
    nb::class_<BoostParams, TreeLimits>(m, "BoostParams")
        .def(nb::init<>())
        .def_rw("max_features", &BoostParams::max_features)
        .def_rw("l2", &BoostParams::l2);
    nb::enum_<Loss>(m, "Loss")
        .value("squared_error", Loss::squared_error)
        .value("cross_entropy", Loss::cross_entropy)
        .value("softmax", Loss::softmax);
    nb::class_<OwnedScores, OwnedArrays>(m, "Scores")
        .def(
            "__init__",
            [](OwnedScores* self, OutMatrix<float> values, Loss loss, const nb::kwargs& given) {
                new (self) OwnedScores(values, loss, given);
            },
            nb::arg("values").noconvert(), nb::arg("loss"), nb::arg("given"))
        .def("sketch", &sketch, "rows"_a, "p"_a.none(), "n_threads"_a)
        .def("leaf_sums", &leaf_sums, "rows"_a, "leaf_start"_a, "squares"_a, "n_threads"_a)
        .def("add", &add_values, "leaf_of"_a, "values"_a, "n_threads"_a)
        .def("loss", &losses, "rows"_a, "n_threads"_a);
    m.def("grow_boosted", &grow_tree, "bins"_a, "gradients"_a, "rows"_a, "params"_a, "n_threads"_a);
}

}  // namespace sketchforest
