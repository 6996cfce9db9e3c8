// Leaves of new rows, averages of the training rows in them, and what features add to these.
#include "checksum.hpp"
#include "contributions.hpp"
#include "native_work.hpp"
#include "owned_arrays.hpp"
#include "weighted_medians.hpp"

namespace sketchforest {
namespace {

constexpr const char* wrong_width = "X has another number of features than the trees";

using FoundLeaves = Matrix<std::int32_t>;

void check_seen(const OwnedForest& forest, const OwnedFloatRows* seen, std::size_t n_rows) {
    require(!forest.trees.is_oblique ||
                (seen && seen->rows.n_rows == n_rows && seen->rows.n_features == forest.n_features),
            "rows must be given as oblique trees see them, too");
}

// The leaves of rows, which find(leaves) finds in the trees that are not oblique; in the others
// they are found by the rows as these see them.
template <class Find>
nb::object leaves_of(const OwnedForest& forest, std::size_t n_rows, const OwnedFloatRows* seen,
                     Find find) {
    check_seen(forest, seen, n_rows);
    return filled_matrix<std::int32_t>(n_rows, forest.trees.n_trees, [&](std::int32_t* leaves) {
        find(leaves);
        if (forest.trees.is_oblique) find_oblique_leaves(forest.oblique, seen->rows, leaves);
    });
}

nb::object leaves_dense(const OwnedForest& forest, const AnyMatrix& x, const OwnedFloatRows* seen) {
    require(x.shape(1) == forest.n_features, wrong_width);
    const bool is_double = x.dtype() == nb::dtype<double>();
    if (!is_double && x.dtype() != nb::dtype<float>())
        throw nb::type_error("X must be of floats or doubles");
    return leaves_of(forest, x.shape(0), seen, [&](std::int32_t* leaves) {
        const auto find = [&](const auto* values) {
            using T = std::remove_cvref_t<decltype(*values)>;
            const DenseX<T> rows{values, x.stride(0), x.stride(1), x.shape(0)};
            find_leaves<T>(forest.trees, rows, leaves);
        };
        is_double ? find(static_cast<const double*>(x.data()))
                  : find(static_cast<const float*>(x.data()));
    });
}

template <class T>
nb::object leaves_sparse(const OwnedForest& forest, Vector<T> values, Vector<std::int32_t> columns,
                         Vector<std::int64_t> row_start, std::size_t n_columns,
                         const OwnedFloatRows* seen) {
    const std::size_t n_features = forest.n_features;
    require(n_columns == n_features, wrong_width);
    require(row_start.size() > 0 && values.size() == columns.size(), "X has another shape");
    const std::size_t n_rows = row_start.size() - 1;
    return leaves_of(forest, n_rows, seen, [&](std::int32_t* leaves) {
        check_entries(to_span(row_start), to_span(columns), n_features);
        const SparseX<T> x{values.data(), columns.data(), row_start.data(), n_rows, n_features};
        find_leaves<T>(forest.trees_with_zero_chains(), x, leaves);
    });
}

// What is averaged: sparse labels, or a dense table of numbers.
Values to_values(const OwnedSparseRows& from) {
    Values values;
    values.sparse = from.rows;
    values.n_rows = from.n_rows;
    values.n_columns = from.rows.n_columns;
    return values;
}
Values to_values(const Matrix<double>& from) {
    Values values;
    values.dense = from.data();
    values.n_rows = from.shape(0);
    values.n_columns = from.shape(1);
    return values;
}

void check_found(const OwnedLeaves& leaves, const Values& values, const FoundLeaves& found) {
    require(found.shape(1) == leaves.leaves.n_trees, "leaves have another shape");
    require(values.n_rows >= leaves.n_rows, "values must have a row for each training row");
    check_leaf_numbers(leaves.leaves, {found.data(), found.size()});
}

template <class From, class T>
void average_into(const OwnedLeaves& leaves, const From& from, FoundLeaves found,
                  OutMatrix<T> out) {
    const Values values = to_values(from);
    require(out.shape(0) == found.shape(0) && out.shape(1) == values.n_columns,
            "out has another shape");
    const NativeWork work;
    check_found(leaves, values, found);
    average<T>(leaves.leaves, values, found.data(), found.shape(0), out.data());
}

nb::tuple average_csr(const OwnedLeaves& leaves, const OwnedSparseRows& from, FoundLeaves found,
                      std::size_t k) {
    const Values values = to_values(from);
    auto mean = without_gil([&] {
        check_found(leaves, values, found);
        return average_sparse(leaves.leaves, values, found.data(), found.shape(0), k);
    });
    return to_arrays(mean.values, mean.columns, mean.row_start);
}

nb::tuple average_best(const OwnedLeaves& leaves, const OwnedSparseRows& from, FoundLeaves found,
                       std::size_t k) {
    const Values values = to_values(from);
    require(k <= values.n_columns, "k must be at most the number of labels");
    const std::size_t n_rows = found.shape(0);
    auto [columns, columns_array] = new_matrix<std::int32_t>(n_rows, k);
    auto [scores, scores_array] = new_matrix<float>(n_rows, k);
    {
        const NativeWork work;
        check_found(leaves, values, found);
        average_top(leaves.leaves, values, found.data(), n_rows, k, columns, scores);
    }
    return nb::make_tuple(columns_array, scores_array);
}

nb::object medians(Matrix<double> outputs, Vector<std::int32_t> rows, Vector<double> weights,
                   Vector<std::int64_t> start) {
    require(start.size() > 0 && weights.size() == rows.size(), "groups have another shape");
    return filled_matrix<double>(start.size() - 1, outputs.shape(1), [&](double* out) {
        check_starts(to_span(start), rows.size(), "groups do not add up");
        check_rows(to_span(rows), outputs.shape(0));
        check_finite({outputs.data(), outputs.size()});
        weighted_medians(outputs.data(), outputs.shape(1),
                         {to_span(rows), weights.data(), to_span(start)}, out);
    });
}

nb::tuple contributions_of(const OwnedForest& forest, FoundLeaves found, Matrix<double> outputs,
                           bool takes_medians, const OwnedFloatRows* seen) {
    require(found.shape(0) == 1 && found.shape(1) == forest.trees.n_trees,
            "one row must have a leaf in each tree");
    require(outputs.shape(0) == forest.n_rows, "outputs must have a row for each training row");
    check_seen(forest, seen, 1);
    const Hierarchy& hierarchy = forest.hierarchy();
    Contributions of;
    {
        const NativeWork work;
        check_leaf_numbers(forest.leaves, {found.data(), found.size()});
        require(
            std::all_of(found.data(), found.data() + found.size(), [](auto i) { return i >= 0; }),
            "one row must have a leaf in each tree");
        check_finite({outputs.data(), outputs.size()});
        of = contributions(hierarchy, forest.leaves, forest.oblique,
                           {found.data(), outputs.data(), outputs.shape(1), takes_medians,
                            seen ? &seen->rows : nullptr});
    }
    return to_arrays(of.base, of.scores, of.features, of.added);
}

std::uint64_t checksum_of(Vector<std::uint8_t> bytes) {
    const NativeWork work;
    return checksum(bytes.data(), bytes.size());
}

}  // namespace

void bind_predicting(nb::module_& m) {
    m.def("leaves_dense", &leaves_dense, "forest"_a, "x"_a, "seen"_a.none() = nb::none());
    const auto sparse = [&](auto function) {
        m.def("leaves_sparse", function, "forest"_a, "values"_a, "columns"_a, "row_start"_a,
              "n_columns"_a, "seen"_a.none() = nb::none());
    };
    sparse(&leaves_sparse<float>);
    sparse(&leaves_sparse<double>);
    const auto average = [&](auto function) {
        m.def("average", function, "leaves"_a, "values"_a, "found"_a, "out"_a.noconvert());
    };
    average(&average_into<OwnedSparseRows, float>);
    average(&average_into<OwnedSparseRows, double>);
    average(&average_into<Matrix<double>, float>);
    average(&average_into<Matrix<double>, double>);
    m.def("average_csr", &average_csr, "leaves"_a, "values"_a, "found"_a, "k"_a);
    m.def("average_best", &average_best, "leaves"_a, "values"_a, "found"_a, "k"_a);
    m.def("weighted_medians", &medians, "outputs"_a, "rows"_a, "weights"_a, "start"_a);
    m.def("contributions", &contributions_of, "forest"_a, "found"_a, "outputs"_a, "takes_medians"_a,
          "seen"_a.none() = nb::none());
    m.def("checksum", &checksum_of, "bytes"_a);
}

}  // namespace sketchforest
