#include <limits>
#include <stdexcept>

#include "arrays.hpp"
#include "check.hpp"
#include "encode.hpp"
#include "native_work.hpp"
#include "stop.hpp"

namespace sketchforest {
namespace {

constexpr const char* wrong_shape = "codes have another shape";

NumberType number_type(nb::dlpack::dtype type) {
    if (type == nb::dtype<float>()) return NumberType::float32;
    if (type == nb::dtype<double>()) return NumberType::float64;
    if (type == nb::dtype<bool>()) return NumberType::boolean;
    if (type == nb::dtype<std::int8_t>()) return NumberType::int8;
    if (type == nb::dtype<std::uint8_t>()) return NumberType::uint8;
    if (type == nb::dtype<std::int16_t>()) return NumberType::int16;
    if (type == nb::dtype<std::uint16_t>()) return NumberType::uint16;
    if (type == nb::dtype<std::int32_t>()) return NumberType::int32;
    if (type == nb::dtype<std::uint32_t>()) return NumberType::uint32;
    if (type == nb::dtype<std::int64_t>()) return NumberType::int64;
    if (type == nb::dtype<std::uint64_t>()) return NumberType::uint64;
    throw nb::type_error("unsupported dtype of X");
}

NumberMatrix to_numbers(const AnyMatrix& x) {
    return {x.data(), number_type(x.dtype()), x.shape(0), x.shape(1), x.stride(0), x.stride(1)};
}

template <class Code>
using CodeTable = Aligned<Code, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// Writes the codes of some columns into the table, and returns their values and how many these are.
template <class T, class Code>
nb::tuple rank_columns_into(const AnyMatrix& from, std::size_t first, std::size_t last,
                            CodeTable<Code> codes) {
    const NumberMatrix x = to_numbers(from);
    require(first <= last && last <= x.n_columns && codes.shape(0) == x.n_columns &&
                codes.shape(1) == x.n_rows,
            wrong_shape);
    ValueTable<T> table;
    bool fits = true;
    {
        const NativeWork work;
        fits = rank_columns<T, Code>(x, first, last, codes.data() + first * x.n_rows, table);
    }
    if (!fits) throw std::overflow_error("too many distinct values for this width of code");
    return to_arrays(table.values, table.counts);
}

template <class Code>
nb::tuple rank_any(const AnyMatrix& from, std::size_t first, std::size_t last,
                   CodeTable<Code> codes, bool wide) {
    return wide ? rank_columns_into<double, Code>(from, first, last, codes)
                : rank_columns_into<float, Code>(from, first, last, codes);
}

template <class Code>
void transpose(CodeTable<const Code> by_column, CodeTable<Code> by_row, std::size_t first,
               std::size_t last) {
    require(first <= last && last <= by_row.shape(0) && by_column.shape(1) == by_row.shape(0) &&
                by_column.shape(0) == by_row.shape(1),
            wrong_shape);
    const NativeWork work;
    transpose_codes(by_column.data(), by_column.shape(1), by_column.shape(0), first, last,
                    by_row.data());
}

void by_value(const AnyMatrix& from, CodeTable<std::uint32_t> by_column,
              CodeTable<std::uint32_t> by_row, std::size_t first, std::size_t last) {
    const NumberMatrix x = to_numbers(from);
    require(first <= last && last <= x.n_rows && by_column.shape(0) == x.n_columns &&
                by_column.shape(1) == x.n_rows && by_row.shape(0) == x.n_rows &&
                by_row.shape(1) == x.n_columns,
            wrong_shape);
    const NativeWork work;
    code_by_value(x, first, last, by_column.data(), by_row.data());
}

template <class T>
nb::tuple encode_csr(Vector<T> values, Vector<std::int32_t> columns, Vector<std::int64_t> row_start,
                     std::size_t n_features) {
    require(n_features <= std::numeric_limits<std::int32_t>::max(), wrong_shape);
    SparseCodes<T> coded;
    const StopFlag never;
    PythonStop stop(never);
    {
        const NativeWork work;
        coded = encode_sparse<T>(to_span(values), to_span(columns), to_span(row_start), n_features,
                                 stop);
    }
    if (stop.signalled()) throw nb::python_error();
    return to_arrays(coded.row_start, coded.columns, coded.codes, coded.zero_code,
                     coded.table.values, coded.table.counts);
}

}  // namespace

void bind_encoding(nb::module_& m) {
    const auto rank = [&](auto function) {
        m.def("rank_columns", function, "x"_a, "first"_a, "last"_a, "codes"_a.noconvert(),
              "wide"_a);
    };
    rank(&rank_any<std::uint16_t>);
    rank(&rank_any<std::uint32_t>);
    const auto transposes = [&](auto function) {
        m.def("transpose_codes", function, "by_column"_a.noconvert(), "by_row"_a.noconvert(),
              "first"_a, "last"_a);
    };
    transposes(&transpose<std::uint8_t>);
    transposes(&transpose<std::uint16_t>);
    transposes(&transpose<std::uint32_t>);
    m.def("code_by_value", &by_value, "x"_a, "by_column"_a.noconvert(), "by_row"_a.noconvert(),
          "first"_a, "last"_a);
    m.def("encode_csr", &encode_csr<float>);
    m.def("encode_csr", &encode_csr<double>);
}

}  // namespace sketchforest
