#include <limits>

#include "bins.hpp"
#include "encode.hpp"
#include "owned_arrays.hpp"
#include "stop.hpp"

namespace sketchforest {
namespace {

constexpr const char* wrong_shape = "codes have another shape";

template <class... T>
Numbers to_numbers(const AnyMatrix& x, std::type_identity<PointerTo<T...>>) {
    Numbers found;
    const auto is_found = [&]<class Number>(const Number*) {
        using Of = std::conditional_t<std::is_same_v<Number, Boolean>, bool, Number>;
        const bool is_it = x.dtype() == nb::dtype<Of>();
        if (is_it) found = static_cast<const Number*>(x.data());
        return is_it;
    };
    if (!(is_found(static_cast<const T*>(nullptr)) || ...))
        throw nb::type_error("unsupported dtype of X");
    return found;
}

NumberMatrix to_matrix(const AnyMatrix& x) {
    return {to_numbers(x, std::type_identity<Numbers>()), x.shape(0), x.shape(1), x.stride(0),
            x.stride(1)};
}

template <class Table>
bool has_shape(const Table& table, std::size_t n_rows, std::size_t n_columns) {
    return table.shape(0) == n_rows && table.shape(1) == n_columns;
}

// Writes the codes of some columns into the table, and returns their values and how many these are.
template <class Code>
nb::tuple rank(const AnyMatrix& from, OutMatrix<Code> codes, std::size_t first, std::size_t last) {
    const NumberMatrix x = to_matrix(from);
    require(first <= last && last <= x.n_columns && has_shape(codes, x.n_columns, x.n_rows),
            wrong_shape);
    const auto rank_as = [&](auto zero) {
        using T = decltype(zero);
        auto table = without_gil(
            [&] { return rank_columns<T>(x, first, last, codes.data() + first * x.n_rows); });
        return to_arrays(table.values, table.counts);
    };
    return needs_double(x.values) ? rank_as(double{}) : rank_as(float{});
}

template <class Code>
void transpose(Matrix<Code> by_column, OutMatrix<Code> by_row, std::size_t first,
               std::size_t last) {
    const std::size_t n_rows = by_row.shape(0), n_columns = by_row.shape(1);
    require(first <= last && last <= n_rows && has_shape(by_column, n_columns, n_rows),
            wrong_shape);
    const NativeWork work;
    transpose_codes(by_column.data(), n_rows, n_columns, first, last, by_row.data());
}

void by_value(const AnyMatrix& from, OutMatrix<std::uint32_t> by_column,
              OutMatrix<std::uint32_t> by_row, std::size_t first, std::size_t last) {
    const NumberMatrix x = to_matrix(from);
    require(first <= last && last <= x.n_rows && has_shape(by_column, x.n_columns, x.n_rows) &&
                has_shape(by_row, x.n_rows, x.n_columns),
            wrong_shape);
    const NativeWork work;
    code_by_value(x, first, last, by_column.data(), by_row.data());
}

// Writes the bins of a feature, and returns the lowest and the highest code of each.
nb::tuple bin_codes_of(Matrix<std::uint32_t> codes, OutMatrix<std::uint8_t> bins,
                       std::size_t feature, std::uint32_t missing_code,
                       Vector<std::uint32_t> edges) {
    require(feature < codes.shape(0) && has_shape(bins, codes.shape(0), codes.shape(1)) &&
                0 < edges.shape(0) && edges.shape(0) <= 255,
            "bins have another shape");
    std::vector<std::uint32_t> lowest(edges.shape(0)), highest(edges.shape(0));
    const std::size_t n = codes.shape(1);
    without_gil([&] {
        bin_codes({codes.data() + feature * n, n}, missing_code, to_span(edges),
                  bins.data() + feature * n, lowest.data(), highest.data());
        return 0;
    });
    return to_arrays(lowest, highest);
}

// The fields of Codes.
template <class T>
nb::dict encode_csr(Vector<T> values, Vector<std::int32_t> columns, Vector<std::int64_t> row_start,
                    std::size_t n_features) {
    require(n_features <= std::numeric_limits<std::int32_t>::max(), wrong_shape);
    SparseCodes<T> coded = unless_stopped(StopFlag(), [&](Stop& stop) {
        return encode_sparse<T>(to_span(values), to_span(columns), to_span(row_start), n_features,
                                stop);
    });
    nb::dict fields;
    fields["n_rows"] = coded.row_start.size() - 1;
    fields["n_features"] = n_features;
    fields["value_start"] = to_array(coded.table.starts());
    fields["values"] = to_array(std::move(coded.table.values));
    fields["row_start"] = to_array(std::move(coded.row_start));
    fields["columns"] = to_array(std::move(coded.columns));
    fields["column_size"] = to_array(std::move(coded.column_size));
    fields["zero_code"] = to_array(std::move(coded.zero_code));
    std::visit([&](auto& codes) { fields["codes"] = to_array(std::move(codes)); }, coded.codes);
    return fields;
}

nb::tuple learn(const OwnedCodes& codes, std::size_t most) {
    require(!codes.codes.sparse && !codes.codes.by_value, "bins are learned from dense ranks");
    auto learned = without_gil([&] { return learn_bins(codes.codes, most); });
    return to_arrays(learned.bin_start, learned.bounds, learned.values);
}

template <class T>
void bin(Aligned<const T, nb::ndim<2>, nb::device::cpu> x, Vector<std::int64_t> bin_start,
         Vector<double> bounds, Vector<float> bin_values, OutMatrix<float> out) {
    require(bin_start.size() == x.shape(1) + 1 && bounds.size() == bin_values.size() &&
                out.shape(0) == x.shape(0) && out.shape(1) >= x.shape(1),
            "bins have another shape");
    const NativeWork work;
    check_starts(to_span(bin_start), bin_values.size(), "bins do not add up");
    apply_bins<T>({x.shape(1), bin_start.data(), bounds.data(), bin_values.data()}, x.data(),
                  x.stride(0), x.stride(1), x.shape(0), out.data(), out.shape(1));
}

template <class Code>
void bind_tables(nb::module_& m) {
    m.def("transpose_codes", &transpose<Code>, "by_column"_a.noconvert(), "by_row"_a.noconvert(),
          "first"_a, "last"_a);
    if constexpr (sizeof(Code) > 1)  // columns of few values are found to be so when they are coded
        m.def("rank_columns", &rank<Code>, "x"_a, "codes"_a.noconvert(), "first"_a, "last"_a);
}

}  // namespace

void bind_encoding(nb::module_& m) {
    bind_tables<std::uint8_t>(m);
    bind_tables<std::uint16_t>(m);
    bind_tables<std::uint32_t>(m);
    m.def("code_by_value", &by_value, "x"_a, "by_column"_a.noconvert(), "by_row"_a.noconvert(),
          "first"_a, "last"_a);
    m.def("bin_codes", &bin_codes_of, "codes"_a.noconvert(), "bins"_a.noconvert(), "feature"_a,
          "missing_code"_a, "edges"_a);
    m.def("encode_csr", &encode_csr<float>);
    m.def("encode_csr", &encode_csr<double>);
    m.def("learn_bins", &learn, "codes"_a, "most"_a);
    const auto apply_bins = [&](auto function) {
        m.def("apply_bins", function, "x"_a, "bin_start"_a, "bounds"_a, "bin_values"_a,
              "out"_a.noconvert());
    };
    apply_bins(&bin<float>);
    apply_bins(&bin<double>);
}

}  // namespace sketchforest
