#include <stdexcept>

#include "arrays.hpp"
#include "encode.hpp"
#include "native_work.hpp"

namespace sketchforest {
namespace {

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

template <class T, class Code>
nb::tuple rank(const NumberMatrix& x, std::size_t first, std::size_t last) {
    auto [codes, array] = new_matrix<Code>(last - first, x.n_rows);
    ValueTable<T> table;
    bool fits = true;
    {
        const NativeWork work;
        fits = rank_columns<T, Code>(x, first, last, codes, table);
    }
    if (!fits) throw std::overflow_error("too many distinct values for this width of code");
    return nb::make_tuple(array, to_array(std::move(table.values)),
                          to_array(std::move(table.counts)));
}

nb::tuple rank_any(const AnyMatrix& from, std::size_t first, std::size_t last, int code_bytes,
                   bool wide) {
    const NumberMatrix x = to_numbers(from);
    if (code_bytes == 2)
        return wide ? rank<double, std::uint16_t>(x, first, last)
                    : rank<float, std::uint16_t>(x, first, last);
    return wide ? rank<double, std::uint32_t>(x, first, last)
                : rank<float, std::uint32_t>(x, first, last);
}

nb::tuple by_value(const AnyMatrix& from) {
    const NumberMatrix x = to_numbers(from);
    auto [columns, columns_array] = new_matrix<std::uint32_t>(x.n_columns, x.n_rows);
    auto [rows, rows_array] = new_matrix<std::uint32_t>(x.n_rows, x.n_columns);
    {
        const NativeWork work;
        code_by_value(x, columns, rows);
    }
    return nb::make_tuple(columns_array, rows_array);
}

template <class T>
nb::tuple encode_csr(Vector<T> values, Vector<std::int32_t> columns, Vector<std::int64_t> row_start,
                     std::size_t n_features) {
    SparseCodes<T> coded;
    {
        const NativeWork work;
        coded = encode_sparse<T>({values.data(), values.size()}, {columns.data(), columns.size()},
                                 {row_start.data(), row_start.size()}, n_features);
    }
    return nb::make_tuple(to_array(std::move(coded.row_start)), to_array(std::move(coded.columns)),
                          to_array(std::move(coded.codes)), to_array(std::move(coded.zero_code)),
                          to_array(std::move(coded.table.values)),
                          to_array(std::move(coded.table.counts)));
}

}  // namespace

void bind_encoding(nb::module_& m) {
    m.def("rank_columns", &rank_any, "x"_a, "first"_a, "last"_a, "code_bytes"_a, "wide"_a);
    m.def("code_by_value", &by_value, "x"_a);
    m.def("encode_csr", &encode_csr<float>);
    m.def("encode_csr", &encode_csr<double>);
}

}  // namespace sketchforest
