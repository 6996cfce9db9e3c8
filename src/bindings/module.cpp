// Translates between numpy arrays and the core, and releases the GIL; decides nothing.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <optional>
#include <stdexcept>

#include "check.hpp"
#include "encode.hpp"
#include "forest.hpp"
#include "grower.hpp"
#include "kernels.hpp"
#include "ranks.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using namespace sketchforest;

namespace {

template <class T>
using Vector = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Matrix = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using AnyMatrix = nb::ndarray<nb::ro, nb::ndim<2>, nb::device::cpu>;

// A numpy array that owns the vector's memory.
template <class T>
nb::object to_array(std::vector<T>&& vector) {
    auto* owned = new std::vector<T>(std::move(vector));
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T>(owned->data(), {owned->size()}, owner).cast();
}

template <class T>
std::pair<T*, nb::object> new_matrix(std::size_t n_rows, std::size_t n_columns) {
    auto* data = new T[std::max<std::size_t>(n_rows * n_columns, 1)];
    nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
    return {data, nb::ndarray<nb::numpy, T>(data, {n_rows, n_columns}, owner).cast()};
}

// The array itself, never a converted copy, whose memory would be gone when the call returns.
template <class Array>
Array view(nb::handle array) {
    return nb::cast<Array>(array, false);
}

template <class T>
const T* pointer_or_null(nb::handle array) {
    return array.is_none() ? nullptr : view<Vector<T>>(array).data();
}

// Calls visit with a zero of the array's type: any number or bool that numpy stores plainly.
template <class Visit>
void with_type(nb::dlpack::dtype type, Visit visit) {
    if (type == nb::dtype<float>()) return visit(float{});
    if (type == nb::dtype<double>()) return visit(double{});
    if (type == nb::dtype<bool>()) return visit(bool{});
    if (type == nb::dtype<std::int8_t>()) return visit(std::int8_t{});
    if (type == nb::dtype<std::uint8_t>()) return visit(std::uint8_t{});
    if (type == nb::dtype<std::int16_t>()) return visit(std::int16_t{});
    if (type == nb::dtype<std::uint16_t>()) return visit(std::uint16_t{});
    if (type == nb::dtype<std::int32_t>()) return visit(std::int32_t{});
    if (type == nb::dtype<std::uint32_t>()) return visit(std::uint32_t{});
    if (type == nb::dtype<std::int64_t>()) return visit(std::int64_t{});
    if (type == nb::dtype<std::uint64_t>()) return visit(std::uint64_t{});
    throw nb::type_error("unsupported dtype of X");
}

// ---- encoding

template <class T, class Code>
nb::tuple rank_columns(const AnyMatrix& x, std::size_t first, std::size_t last) {
    const std::size_t n_rows = x.shape(0), n_columns = last - first;
    auto [codes, array] = new_matrix<Code>(n_columns, n_rows);
    ValueTable<T> table;
    bool fits = true;
    {
        nb::gil_scoped_release nogil;
        Ranker<T> ranker;
        std::vector<T> column(n_rows);
        std::vector<std::uint32_t> ranks(n_rows);
        for (std::size_t j = 0; j < n_columns && fits; ++j) {
            with_type(x.dtype(), [&](auto zero) {
                const auto* at = static_cast<const decltype(zero)*>(x.data()) +
                                 static_cast<std::int64_t>(first + j) * x.stride(1);
                for (std::size_t i = 0; i < n_rows; ++i, at += x.stride(0))
                    column[i] = static_cast<T>(*at);
            });
            ranker.rank(column, ranks.data(), table);
            // The rank of a missing value counts too.
            fits = sizeof(Code) == 4 ||
                   table.counts.back() < static_cast<std::int64_t>(Code(~Code{0}));
            for (std::size_t i = 0; i < n_rows; ++i)
                codes[j * n_rows + i] = static_cast<Code>(ranks[i]);
        }
    }
    if (!fits) throw std::overflow_error("too many distinct values for this width of code");
    return nb::make_tuple(array, to_array(std::move(table.values)),
                          to_array(std::move(table.counts)));
}

nb::tuple rank_columns_any(const AnyMatrix& x, std::size_t first, std::size_t last, int code_bytes,
                           bool wide) {
    if (code_bytes == 2)
        return wide ? rank_columns<double, std::uint16_t>(x, first, last)
                    : rank_columns<float, std::uint16_t>(x, first, last);
    return wide ? rank_columns<double, std::uint32_t>(x, first, last)
                : rank_columns<float, std::uint32_t>(x, first, last);
}

// Dense X coded by value, by column and by row.
nb::tuple code_by_value(const AnyMatrix& x) {
    const std::size_t n_rows = x.shape(0), n_columns = x.shape(1);
    auto [columns, columns_array] = new_matrix<std::uint32_t>(n_columns, n_rows);
    auto [rows, rows_array] = new_matrix<std::uint32_t>(n_rows, n_columns);
    {
        nb::gil_scoped_release nogil;
        with_type(x.dtype(), [&](auto zero) {
            const auto* values = static_cast<const decltype(zero)*>(x.data());
            const auto code = [&](std::size_t i, std::size_t j) {
                const auto value =
                    static_cast<float>(values[static_cast<std::int64_t>(i) * x.stride(0) +
                                              static_cast<std::int64_t>(j) * x.stride(1)]);
                return value == value ? sortable(value) : ~0u;
            };
            // By blocks of rows: one of the two is always read or written across.
            constexpr std::size_t block = 64;
            for (std::size_t first = 0; first < n_rows; first += block) {
                const std::size_t last = std::min(first + block, n_rows);
                for (std::size_t j = 0; j < n_columns; ++j)
                    for (std::size_t i = first; i < last; ++i)
                        columns[j * n_rows + i] = rows[i * n_columns + j] = code(i, j);
            }
        });
    }
    return nb::make_tuple(columns_array, rows_array);
}

template <class T>
nb::tuple encode_csr(Vector<T> values, Vector<std::int32_t> columns, Vector<std::int64_t> row_start,
                     std::size_t n_features) {
    SparseCodes<T> coded;
    {
        nb::gil_scoped_release nogil;
        coded = encode_sparse<T>({values.data(), values.size()}, {columns.data(), columns.size()},
                                 {row_start.data(), row_start.size()}, n_features);
    }
    return nb::make_tuple(to_array(std::move(coded.row_start)), to_array(std::move(coded.columns)),
                          to_array(std::move(coded.codes)), to_array(std::move(coded.zero_code)),
                          to_array(std::move(coded.table.values)),
                          to_array(std::move(coded.table.counts)));
}

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
        codes.code_bytes = array.itemsize();
    }
    if (!from.attr("row_codes").is_none())
        codes.row_codes =
            view<nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig>>(from.attr("row_codes")).data();
    return codes;
}

// ---- sparse rows

SparseRows to_sparse_rows(nb::handle csr) {
    SparseRows rows;
    rows.row_start = pointer_or_null<std::int64_t>(csr.attr("row_start"));
    rows.columns = pointer_or_null<std::int32_t>(csr.attr("columns"));
    rows.values = pointer_or_null<float>(csr.attr("values"));
    rows.n_columns = nb::cast<std::size_t>(csr.attr("n_columns"));
    return rows;
}

nb::object project(nb::handle labels, Vector<std::int32_t> rows, Matrix<float> p) {
    const SparseRows y = to_sparse_rows(labels);
    auto [z, array] = new_matrix<float>(rows.size(), p.shape(1));
    nb::gil_scoped_release nogil;
    kernels().project(
        {y.row_start, y.columns, y.values, rows.data(), rows.size(), p.data(), p.shape(1), z});
    nb::gil_scoped_acquire gil;
    return array;
}

// ---- growing

struct StopFlag {
    std::atomic<bool> is_set{false};
};

// Stops when the flag is set, or when Python has a signal to handle (Ctrl-C, in the main thread).
class PythonStop final : public Stop {
  public:
    explicit PythonStop(const StopFlag& flag) : flag_(flag) {}

    bool requested(std::size_t n_rows) override {
        if (flag_.is_set.load(std::memory_order_relaxed)) return true;
        // Small nodes do not look at the clock, which would take as long as some of them.
        n_rows_ += n_rows;
        if (n_rows_ < 4096) return signalled_;
        n_rows_ = 0;
        const auto now = Clock::now();
        if (now - asked_ < std::chrono::milliseconds(50)) return signalled_;
        asked_ = now;
        nb::gil_scoped_acquire gil;
        return signalled_ = PyErr_CheckSignals() != 0;
    }
    bool signalled() const { return signalled_; }

  private:
    using Clock = std::chrono::steady_clock;
    const StopFlag& flag_;
    std::size_t n_rows_ = 0;
    Clock::time_point asked_ = Clock::now();
    bool signalled_ = false;
};

nb::object nodes_array(const std::vector<Node>& nodes) {
    auto [data, array] = new_matrix<std::int32_t>(nodes.size(), 4);
    if (!nodes.empty()) std::memcpy(data, nodes.data(), nodes.size() * sizeof(Node));
    return array;
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
        nb::gil_scoped_release nogil;
        tree = grow(codes, outputs, bag, params, stop);
    }
    if (stop.signalled()) throw nb::python_error();
    if (tree.leaf_start.empty()) return nb::none();
    const std::uint32_t depth = tree.depth;
    return nb::make_tuple(nodes_array(tree.nodes), to_array(std::move(tree.wide_thresholds)),
                          to_array(std::move(tree.gains)), to_array(std::move(tree.leaf_start)),
                          to_array(std::move(tree.members)), depth);
}

// ---- predicting

Trees to_trees(nb::handle from) {
    Trees trees;
    trees.n_trees = nb::cast<std::size_t>(from.attr("n_trees"));
    trees.nodes =
        reinterpret_cast<const Node*>(view<Matrix<std::int32_t>>(from.attr("nodes")).data());
    trees.wide_thresholds = pointer_or_null<double>(from.attr("thresholds"));
    trees.node_start = pointer_or_null<std::int64_t>(from.attr("node_start"));
    return trees;
}

nb::object leaves_dense(nb::handle forest, const AnyMatrix& x) {
    const Trees trees = to_trees(forest);
    const std::size_t n_rows = x.shape(0);
    auto [leaves, array] = new_matrix<std::int32_t>(n_rows, trees.n_trees);
    const auto find = [&](auto zero) {
        using T = decltype(zero);
        nb::gil_scoped_release nogil;
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
    const Trees trees = to_trees(forest);
    const std::size_t n_rows = row_start.size() - 1;
    auto [leaves, array] = new_matrix<std::int32_t>(n_rows, trees.n_trees);
    nb::gil_scoped_release nogil;
    find_leaves<T>(trees, {values.data(), columns.data(), row_start.data(), n_rows, n_features},
                   leaves);
    nb::gil_scoped_acquire gil;
    return array;
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

template <class T>
void average_into(nb::handle forest, nb::handle values_from, Matrix<std::int32_t> leaf_of,
                  nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
    const Leaves leaves = to_leaves(forest);
    const Values values = to_values(values_from);
    nb::gil_scoped_release nogil;
    average<T>(leaves, values, leaf_of.data(), leaf_of.shape(0), out.data());
}

nb::tuple average_csr(nb::handle forest, nb::handle values_from, Matrix<std::int32_t> leaf_of,
                      std::size_t k) {
    const Leaves leaves = to_leaves(forest);
    const Values values = to_values(values_from);
    SparseMean mean;
    {
        nb::gil_scoped_release nogil;
        mean = average_sparse(leaves, values, leaf_of.data(), leaf_of.shape(0), k);
    }
    return nb::make_tuple(to_array(std::move(mean.values)), to_array(std::move(mean.columns)),
                          to_array(std::move(mean.row_start)));
}

nb::tuple average_best(nb::handle forest, nb::handle values_from, Matrix<std::int32_t> leaf_of,
                       std::size_t k) {
    const Leaves leaves = to_leaves(forest);
    const Values values = to_values(values_from);
    const std::size_t n_rows = leaf_of.shape(0);
    auto [columns, columns_array] = new_matrix<std::int32_t>(n_rows, k);
    auto [scores, scores_array] = new_matrix<float>(n_rows, k);
    {
        nb::gil_scoped_release nogil;
        average_top(leaves, values, leaf_of.data(), n_rows, k, columns, scores);
    }
    return nb::make_tuple(columns_array, scores_array);
}

// ---- ranking

nb::tuple ranks_of(Vector<std::int64_t> row_start, Vector<std::int64_t> labels, Scores scores) {
    const Truth truth{row_start.data(), labels.data(), row_start.size() - 1};
    std::vector<std::int64_t> n_at_least(labels.size()), n_true_at_least(labels.size());
    {
        nb::gil_scoped_release nogil;
        true_ranks(truth, scores, n_at_least.data(), n_true_at_least.data());
    }
    return nb::make_tuple(to_array(std::move(n_at_least)), to_array(std::move(n_true_at_least)));
}

nb::tuple ranks_dense(Vector<std::int64_t> row_start, Vector<std::int64_t> labels,
                      Matrix<double> scores) {
    return ranks_of(row_start, labels, {scores.data(), nullptr, nullptr, scores.shape(1)});
}

nb::tuple ranks_sparse(Vector<std::int64_t> row_start, Vector<std::int64_t> labels,
                       Vector<double> scores, Vector<std::int64_t> scored_labels,
                       Vector<std::int64_t> scored_start, std::size_t n_labels) {
    return ranks_of(row_start, labels,
                    {scores.data(), scored_start.data(), scored_labels.data(), n_labels});
}

// ---- files

// None where the arrays are a forest and its labels, else what is wrong with them.
nb::object find_damage_in(nb::handle forest, nb::handle labels, std::size_t n_features) {
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
    if (values.dense) {
        extent.n_rows = nb::len(labels);
    } else {
        extent.n_rows = length(labels, "row_start") - 1;
        extent.n_entries = length(labels, "columns");
    }
    const char* damage = nullptr;
    {
        nb::gil_scoped_release nogil;
        damage = find_damage(trees, leaves, values, extent);
    }
    return damage ? nb::cast(damage) : nb::none();
}

}  // namespace

NB_MODULE(_core, m) {
    nb::class_<GrowParams>(m, "GrowParams")
        .def(nb::init<>())
        .def_rw("max_features", &GrowParams::max_features)
        .def_rw("random_cuts", &GrowParams::random_cuts)
        .def_rw("max_depth", &GrowParams::max_depth)
        .def_rw("min_samples_split", &GrowParams::min_samples_split)
        .def_rw("min_samples_leaf", &GrowParams::min_samples_leaf)
        .def_rw("min_weight_leaf", &GrowParams::min_weight_leaf)
        .def_rw("min_gain", &GrowParams::min_gain)
        .def_rw("max_leaf_nodes", &GrowParams::max_leaf_nodes)
        .def_rw("key", &GrowParams::key);
    nb::class_<StopFlag>(m, "StopFlag")
        .def(nb::init<>())
        .def("set", [](StopFlag& flag) { flag.is_set = true; })
        .def("__reduce__", [](nb::handle self) {  // another process has a flag of its own
            return nb::make_tuple(self.type(), nb::make_tuple());
        });
    m.def("rank_columns", &rank_columns_any, "x"_a, "first"_a, "last"_a, "code_bytes"_a, "wide"_a);
    m.def("code_by_value", &code_by_value, "x"_a);
    m.def("encode_csr", &encode_csr<float>);
    m.def("encode_csr", &encode_csr<double>);
    m.def("project", &project, "labels"_a, "rows"_a, "p"_a);
    m.def("grow", &grow_tree, "codes"_a, "outputs"_a, "rows"_a, "weights"_a, "params"_a, "stop"_a);
    m.def("leaves_dense", &leaves_dense, "forest"_a, "x"_a);
    m.def("leaves_sparse", &leaves_sparse<float>);
    m.def("leaves_sparse", &leaves_sparse<double>);
    m.def("average", &average_into<float>);
    m.def("average", &average_into<double>);
    m.def("average_csr", &average_csr, "forest"_a, "values"_a, "leaves"_a, "k"_a);
    m.def("average_best", &average_best, "forest"_a, "values"_a, "leaves"_a, "k"_a);
    m.def("ranks_dense", &ranks_dense);
    m.def("ranks_sparse", &ranks_sparse);
    m.def("find_damage", &find_damage_in, "forest"_a, "labels"_a, "n_features"_a);
}
