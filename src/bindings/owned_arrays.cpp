#include "owned_arrays.hpp"

#include "native_work.hpp"

namespace sketchforest {

OwnedArrays::OwnedArrays(const nb::kwargs& given) {
    for (const auto& [key, value] : given) {
        std::string name;
        Array array;
        if (!nb::try_cast(key, name)) throw nb::type_error("names must be text");
        if (value.is_none())
            nones_.insert(name);
        else if (PyLong_Check(value.ptr()))
            require(nb::try_cast(value, numbers_[name]),
                    (name + " must be at least 0, and fit into 64 bits").c_str());
        else if (nb::try_cast(value, array, false))
            arrays_.emplace(name, std::move(array));
        else
            throw nb::type_error((name + " must be a contiguous, aligned array or an int").c_str());
    }
}

nb::object OwnedArrays::shown(const std::string& name) const {
    if (const Array* array = find(name)) {
        std::vector<std::size_t> shape(array->shape_ptr(), array->shape_ptr() + array->ndim());
        return nb::ndarray<nb::numpy, nb::ro>(array->data(), shape.size(), shape.data(),
                                              nb::find(*this), nullptr, array->dtype())
            .cast();
    }
    const auto found = numbers_.find(name);
    if (found != numbers_.end()) return nb::cast(found->second);
    if (nones_.contains(name)) return nb::none();
    throw nb::attribute_error(name.c_str());
}

std::size_t OwnedArrays::number(const std::string& name) const {
    const auto found = numbers_.find(name);
    if (found == numbers_.end()) throw nb::type_error((name + " must be given").c_str());
    return found->second;
}

bool OwnedArrays::gives_number(const std::string& name) const {
    return numbers_.contains(name);
}

const OwnedArrays::Array* OwnedArrays::find(const std::string& name) const {
    const auto found = arrays_.find(name);
    return found == arrays_.end() ? nullptr : &found->second;
}

void OwnedArrays::require_array(const std::string& name, const Array& array, bool has_type,
                                Shape shape) {
    if (!has_type) throw nb::type_error((name + " has another type").c_str());
    std::size_t axis = 0;
    bool fits = array.ndim() == shape.size();
    for (const std::size_t size : shape) {
        fits = fits && (size == any || size == array.shape(axis));
        ++axis;
    }
    require(fits, (name + " has another shape").c_str());
}

OwnedSparseRows::OwnedSparseRows(const nb::kwargs& given) : OwnedArrays(given) {
    const auto starts = required<std::int64_t>("indptr");
    const auto columns = required<std::int32_t>("indices");
    require(!starts.empty(), "labels do not add up");
    n_rows = starts.size() - 1;
    rows = {starts.data(), columns.data(), pointer<float>("data", {columns.size()}),
            number("n_columns")};
    const NativeWork work;
    check(rows, n_rows, columns.size());
}

OwnedFloatRows::OwnedFloatRows(const nb::kwargs& given) : OwnedArrays(given) {
    rows.n_features = number("n_features");
    const auto starts = span<std::int64_t>("indptr");
    std::size_t n_entries = 0;
    if (find("indptr")) {
        const auto columns = required<std::int32_t>("indices");
        n_entries = columns.size();
        rows.values = required<float>("data", {n_entries}).data();
        require(!starts.empty(), "features do not add up");
        rows.n_rows = starts.size() - 1;
        rows.row_start = starts.data();
        rows.columns = columns.data();
    } else {
        rows.values = required<float>("data", {any, any}).data();
        rows.n_rows = find("data")->shape(0);
        rows.stride = find("data")->shape(1);
        require(rows.stride % 8 == 0 && rows.stride - rows.n_features < 8,
                "rows must have their features, and zeros up to a multiple of 8");
    }
    const NativeWork work;
    check(rows, n_entries);
}

OwnedCodes::OwnedCodes(const nb::kwargs& given) : OwnedArrays(given) {
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max();
    const std::size_t n = codes.n_rows = number("n_rows");
    const std::size_t p = codes.n_features = number("n_features");
    require(0 < n && n <= most && 0 < p && p <= most, "there are no rows or features, or too many");
    codes.by_value = !find("values");
    std::size_t n_values = 0, n_entries = 0;
    if (!codes.by_value) {
        codes.value_start = required<std::int64_t>("value_start", {p + 1}).data();
        codes.wide_values = find("values")->dtype() == nb::dtype<double>();
        codes.values = codes.wide_values ? static_cast<const void*>(pointer<double>("values"))
                                         : pointer<float>("values");
        n_values = find("values")->size();
    }
    codes.sparse = find("row_start");
    if (codes.sparse) {
        codes.row_start = pointer<std::int64_t>("row_start", {n + 1});
        const auto columns = required<std::int32_t>("columns");
        codes.columns = columns.data(), n_entries = columns.size();
        codes.column_size = required<std::int32_t>("column_size", {p}).data();
        codes.zero_code = required<std::uint32_t>("zero_code", {p}).data();
    }
    require(codes.sparse || find("codes"), "codes of dense X must be given");
    codes.code_bytes = find("codes") ? static_cast<int>(find("codes")->itemsize()) : 0;
    require(!codes.by_value || codes.code_bytes == 4, "codes by value must have 32 bits");
    const auto coded = [&](const char* name, Shape shape) -> const void* {
        if (codes.code_bytes == 1) return pointer<std::uint8_t>(name, shape);
        if (codes.code_bytes == 2) return pointer<std::uint16_t>(name, shape);
        return pointer<std::uint32_t>(name, shape);
    };
    codes.codes = codes.sparse ? coded("codes", {n_entries}) : coded("codes", {p, n});
    codes.row_codes = codes.sparse ? nullptr : coded("row_codes", {n, p});
    std::size_t n_bins = 0;
    if (find("bins")) {
        codes.bins = pointer<std::uint8_t>("bins", {p, n});
        codes.bin_start = required<std::int64_t>("bin_start", {p + 1}).data();
        const auto lowest = required<std::uint32_t>("bin_lowest");
        n_bins = lowest.size();
        codes.bin_lowest = lowest.data();
        codes.bin_highest = required<std::uint32_t>("bin_highest", {n_bins}).data();
    }
    const NativeWork work;
    check(codes, {n_entries, n_values, n_bins},
          gives_number("n_threads") ? number("n_threads") : 1);
}

OwnedLeaves::OwnedLeaves(const nb::kwargs& given, bool is_all) : OwnedArrays(given) {
    n_rows = number("n_rows");
    const LeafArrays all = arrays();
    if (is_all) {
        const NativeWork work;
        check(all);
    }
    leaves = all.view();
}

LeafArrays OwnedLeaves::arrays() const {
    LeafArrays all{required<std::int64_t>("leaf_start"),
                   required<std::int64_t>("tree_members"),
                   required<std::uint32_t>("member_start"),
                   required<std::int32_t>("members"),
                   {},
                   {},
                   span<double>("tree_weights"),
                   n_rows};
    const bool are_counts = find("weights") && find("weights")->itemsize() == 1;
    const Shape shape = {all.members.size()};
    if (are_counts)
        all.counts = span<std::uint8_t>("weights", shape);
    else
        all.weights = span<double>("weights", shape);
    return all;
}

OwnedForest::OwnedForest(const nb::kwargs& given) : OwnedLeaves(given, false) {
    n_features = number("n_features");
    const auto numbers = required<std::int32_t>("nodes", {any, 4});
    const std::size_t n_nodes = numbers.size() / 4;
    ForestArrays all{arrays(),
                     required<std::int64_t>("node_start"),
                     {reinterpret_cast<const Node*>(numbers.data()), n_nodes},
                     span<double>("thresholds", {n_nodes}),
                     span<float>("gains", {n_nodes}),
                     required<std::int32_t>("depths"),
                     span<std::int64_t>("direction_start"),
                     span<std::int32_t>("direction_columns"),
                     span<std::uint16_t>("direction_weights"),
                     span<std::uint8_t>("is_oblique"),
                     n_features};
    require(!find("is_oblique") || !all.is_oblique.empty(), "directions do not fit the trees");
    {
        const NativeWork work;
        check(all, is_given("n_threads") ? number("n_threads") : 1);
    }
    trees = all.view();
    oblique = all.oblique_view();
}

Trees OwnedForest::trees_with_zero_chains() const {
    std::call_once(zero_chains_found_, [this] { zero_chains_ = find_zero_chains(trees); });
    Trees found = trees;
    if (!zero_chains_.empty()) found.zero_chains = zero_chains_.data();
    return found;
}

const Hierarchy& OwnedForest::hierarchy() const {
    const NativeWork work;
    std::call_once(hierarchy_found_, [this] { hierarchy_.emplace(trees, leaves); });
    return *hierarchy_;
}

namespace {

template <class T, class... Base>
nb::class_<T, Base...> bind(nb::module_& m, const char* name) {
    return nb::class_<T, Base...>(m, name).def(
        "__init__", [](T* self, const nb::kwargs& given) { new (self) T(given); });
}

nb::object zero_chains(const OwnedForest& forest) {
    const std::uint32_t* chains = forest.trees_with_zero_chains().zero_chains;
    if (!chains) return nb::none();
    const auto n_nodes = static_cast<std::size_t>(forest.trees.node_start[forest.trees.n_trees]);
    return nb::ndarray<nb::numpy, const std::uint32_t>(chains, {n_nodes}, nb::find(forest)).cast();
}

}  // namespace

void bind_held(nb::module_& m) {
    nb::class_<OwnedArrays>(m, "OwnedArrays").def("__getattr__", &OwnedArrays::shown);
    bind<OwnedSparseRows, OwnedArrays>(m, "SparseRows").def_ro("n_rows", &OwnedSparseRows::n_rows);
    bind<OwnedCodes, OwnedArrays>(m, "Codes").def_prop_ro("by_value", [](const OwnedCodes& self) {
        return self.codes.by_value;
    });
    bind<OwnedFloatRows, OwnedArrays>(m, "FloatRows")
        .def_prop_ro("n_rows", [](const OwnedFloatRows& self) { return self.rows.n_rows; });
    bind<OwnedLeaves, OwnedArrays>(m, "Leaves").def_prop_ro("n_trees", [](const OwnedLeaves& self) {
        return self.leaves.n_trees;
    });
    bind<OwnedForest, OwnedLeaves>(m, "Forest")
        .def_prop_ro("hierarchy", &OwnedForest::hierarchy, nb::rv_policy::reference_internal)
        .def_prop_ro("zero_chains", &zero_chains);
}

}  // namespace sketchforest
