#include <algorithm>
#include <limits>
#include <stdexcept>

#include "data.hpp"
#include "encode.hpp"

namespace sketchforest {
namespace {

// Rows that are copied together: codes of so many rows fill whole cache lines of a column.
constexpr std::size_t tile_rows = 32;

constexpr std::uint32_t most_bins = 256;  // one of missing values

// Columns [first, last) of X, converted, one after the other. By rows where those lie together, so
// that each piece of memory is fetched once.
template <class T>
void gather_columns(const NumberMatrix& x, std::size_t first, std::size_t last, T* columns) {
    const auto gather = [&](const auto* values) {
        const auto* const start = values + static_cast<std::int64_t>(first) * x.column_stride;
        const auto copy = [&](std::size_t begin, std::size_t end) {
            for (std::size_t j = 0; j < last - first; ++j) {
                const auto* from = start + static_cast<std::int64_t>(j) * x.column_stride +
                                   static_cast<std::int64_t>(begin) * x.row_stride;
                for (std::size_t i = begin; i < end; ++i, from += x.row_stride)
                    columns[j * x.n_rows + i] = static_cast<T>(*from);
            }
        };
        for (std::size_t begin = 0; begin < x.n_rows; begin += tile_rows)
            copy(begin, std::min(begin + tile_rows, x.n_rows));
    };
    std::visit(gather, x.values);
}

}  // namespace

bool needs_double(const Numbers& values) {
    return std::visit(
        []<class T>(const T*) {
            return std::numeric_limits<T>::digits > std::numeric_limits<float>::digits;
        },
        values);
}

template <class T, class Code>
ValueTable<T> rank_columns(const NumberMatrix& x, std::size_t first, std::size_t last,
                           Code* codes) {
    ValueTable<T> table;
    std::vector<T> columns(x.n_rows * (last - first));
    gather_columns(x, first, last, columns.data());
    Ranker<T> ranker;
    std::vector<std::uint32_t> ranks(x.n_rows);
    for (std::size_t j = 0; j < last - first; ++j) {
        ranker.rank({columns.data() + j * x.n_rows, x.n_rows}, ranks.data(), table);
        // The rank of a missing value counts too.
        if (sizeof(Code) < 4 && table.counts.back() >= static_cast<std::int64_t>(Code(~Code{0})))
            throw std::overflow_error("too many distinct values for this width of code");
        for (std::size_t i = 0; i < x.n_rows; ++i)
            codes[j * x.n_rows + i] = static_cast<Code>(ranks[i]);
    }
    table.values.shrink_to_fit();  // they stay for as long as trees are grown
    return table;
}

template ValueTable<float> rank_columns(const NumberMatrix&, std::size_t, std::size_t,
                                        std::uint16_t*);
template ValueTable<float> rank_columns(const NumberMatrix&, std::size_t, std::size_t,
                                        std::uint32_t*);
template ValueTable<double> rank_columns(const NumberMatrix&, std::size_t, std::size_t,
                                         std::uint16_t*);
template ValueTable<double> rank_columns(const NumberMatrix&, std::size_t, std::size_t,
                                         std::uint32_t*);

template <class Code>
void transpose_codes(const Code* by_column, std::size_t n_rows, std::size_t n_columns,
                     std::size_t first, std::size_t last, Code* by_row) {
    for (std::size_t begin = first; begin < last; begin += tile_rows) {
        const std::size_t end = std::min(begin + tile_rows, last);
        for (std::size_t j = 0; j < n_columns; ++j)
            for (std::size_t i = begin; i < end; ++i)
                by_row[i * n_columns + j] = by_column[j * n_rows + i];
    }
}

template void transpose_codes(const std::uint8_t*, std::size_t, std::size_t, std::size_t,
                              std::size_t, std::uint8_t*);
template void transpose_codes(const std::uint16_t*, std::size_t, std::size_t, std::size_t,
                              std::size_t, std::uint16_t*);
template void transpose_codes(const std::uint32_t*, std::size_t, std::size_t, std::size_t,
                              std::size_t, std::uint32_t*);

void bin_codes(std::span<const std::uint32_t> codes, std::uint32_t missing_code,
               std::span<const std::uint32_t> edges, std::uint8_t* bins, std::uint32_t* lowest,
               std::uint32_t* highest) {
    const std::size_t n_bins = edges.size();
    std::copy(edges.begin(), edges.end(), lowest);
    std::copy(edges.begin(), edges.end(), highest);
    // All edges but the last; a binary search takes the same steps for each code.
    std::uint32_t table[most_bins];
    std::fill_n(table, most_bins, ~0u);
    std::copy_n(edges.begin(), n_bins - 1, table);
    constexpr std::size_t block = 16;  // searches side by side, none waiting for another
    for (std::size_t first = 0; first < codes.size(); first += block) {
        const std::size_t n = std::min(block, codes.size() - first);
        std::uint32_t code[block]{}, bin[block]{};
        std::copy_n(codes.begin() + first, n, code);
        for (std::uint32_t half = most_bins / 2; half > 0; half /= 2)
            for (std::size_t i = 0; i < block; ++i)
                bin[i] += table[bin[i] + half - 1] < code[i] ? half : 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (code[i] == missing_code) {
                bins[first + i] = static_cast<std::uint8_t>(n_bins);
                continue;
            }
            bins[first + i] = static_cast<std::uint8_t>(bin[i]);
            lowest[bin[i]] = std::min(lowest[bin[i]], code[i]);
            highest[bin[i]] = std::max(highest[bin[i]], code[i]);
        }
    }
}

// Whatever the order of X, one of the two is accessed across its rows: in tiles of a few rows,
// which stay in the L1 cache.
void code_by_value(const NumberMatrix& x, std::size_t first, std::size_t last,
                   std::uint32_t* by_column, std::uint32_t* by_row) {
    const auto code = [&](const auto* values) {
        const auto code_rows = [&](std::size_t begin, std::size_t end, std::int64_t column_stride) {
            for (std::size_t i = begin; i < end; ++i) {
                const auto* from = values + static_cast<std::int64_t>(i) * x.row_stride;
                std::uint32_t* to = by_row + i * x.n_columns;
                for (std::size_t j = 0; j < x.n_columns; ++j) {
                    const auto value =
                        static_cast<float>(from[static_cast<std::int64_t>(j) * column_stride]);
                    to[j] = value == value ? sortable(value) : ~0u;
                }
            }
        };
        for (std::size_t begin = first; begin < last; begin += tile_rows) {
            const std::size_t end = std::min(begin + tile_rows, last);
            if (x.column_stride == 1)  // with a constant stride, the compiler vectorizes the loop
                code_rows(begin, end, 1);
            else
                code_rows(begin, end, x.column_stride);
            for (std::size_t j = 0; j < x.n_columns; ++j)
                for (std::size_t i = begin; i < end; ++i)
                    by_column[j * x.n_rows + i] = by_row[i * x.n_columns + j];
        }
    };
    std::visit(code, x.values);
}

}  // namespace sketchforest
