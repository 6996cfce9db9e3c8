#include "node_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels.hpp"

namespace sketchforest {

namespace {

// So many floats, a few times over, stay in the fastest cache.
constexpr std::size_t few_features = 4096;
using Four = float __attribute__((vector_size(16)));

}  // namespace

NodeRows::NodeRows(const FloatRows& x)
    : x_(x), is_compact_(x.is_sparse() && x.n_features > few_features), n_columns_(x.n_features) {
    if (is_compact_) {
        column_of_.resize(x.n_features);
        occurs_.resize((x.n_features + 63) / 64);
    }
}

void NodeRows::load(std::span<const std::int32_t> rows) {
    rows_ = rows;
    if (is_compact_) compact();
}

void NodeRows::compact() {
    std::size_t n_entries = 0;
    for (const std::int32_t row : rows_) {
        for (auto at = x_.row_start[row]; at < x_.row_start[row + 1]; ++at)
            occurs_[x_.columns[at] >> 6] |= std::uint64_t{1} << (x_.columns[at] & 63);
        n_entries += static_cast<std::size_t>(x_.row_start[row + 1] - x_.row_start[row]);
    }
    // In ascending order without a sort, which would take as long as a pass over the rows.
    features_.clear();
    for (std::size_t word = 0; word < occurs_.size(); ++word) {
        for (std::uint64_t bits = occurs_[word]; bits; bits &= bits - 1) {
            const auto feature = static_cast<std::int32_t>(64 * word + std::countr_zero(bits));
            column_of_[feature] = static_cast<std::uint32_t>(features_.size());
            features_.push_back(feature);
        }
        occurs_[word] = 0;
    }
    n_columns_ = features_.size();
    start_.assign(1, 0);
    if (columns_.size() < n_entries) {
        columns_.resize(n_entries);
        values_.resize(n_entries);
    }
    std::size_t to = 0;
    for (const std::int32_t row : rows_) {
        for (auto at = x_.row_start[row]; at < x_.row_start[row + 1]; ++at, ++to) {
            columns_[to] = column_of_[x_.columns[at]];
            values_[to] = x_.values[at];
        }
        start_.push_back(to);
    }
}

void NodeRows::moments(const float* weights, const float* v, float* sums, float* squares,
                       float* products) {
    if (!x_.is_sparse()) {
        std::fill_n(sums, width(), 0.0f);
        std::fill_n(squares, width(), 0.0f);
        kernels().dense_moments({x_.values, rows_.data(), rows_.size(), x_.stride}, weights, sums,
                                squares);
        return transposed_times(v, products);
    }
    at_once_.assign(4 * width(), 0.0f);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const auto [columns, values, n] = row(i);
        const Four factors{weights[i], weights[i], v[i], 0};
        for (std::size_t at = 0; at < n; ++at) {
            float* const to = at_once_.data() + 4 * static_cast<std::size_t>(columns[at]);
            Four added = factors * values[at];
            added[1] *= values[at];
            Four sums_so_far;
            std::memcpy(&sums_so_far, to, sizeof sums_so_far);
            sums_so_far += added;
            std::memcpy(to, &sums_so_far, sizeof sums_so_far);
        }
    }
    for (std::size_t column = 0; column < width(); ++column) {
        sums[column] = at_once_[4 * column];
        squares[column] = at_once_[4 * column + 1];
        products[column] = at_once_[4 * column + 2];
    }
}

void NodeRows::transposed_times(const float* v, float* out) const {
    std::fill_n(out, width(), 0.0f);
    if (!x_.is_sparse())
        return kernels().dense_transposed_times({x_.values, rows_.data(), rows_.size(), x_.stride},
                                                v, out);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const auto [columns, values, n] = row(i);
        for (std::size_t at = 0; at < n; ++at) out[columns[at]] += v[i] * values[at];
    }
}

void NodeRows::times(const float* w, float* out) const {
    if (!x_.is_sparse())
        return kernels().dense_times({x_.values, rows_.data(), rows_.size(), x_.stride}, w, out);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const auto [columns, values, n] = row(i);
        float sum = 0;
        for (std::size_t at = 0; at < n; ++at) sum += values[at] * w[columns[at]];
        out[i] = sum;
    }
}

void NodeRows::times_and_back(const float* w, const float* weights, float* out, float* back) const {
    std::fill_n(back, width(), 0.0f);
    if (!x_.is_sparse())
        return kernels().dense_times_and_back({x_.values, rows_.data(), rows_.size(), x_.stride}, w,
                                              weights, out, back);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const auto [columns, values, n] = row(i);
        float sum = 0;
        for (std::size_t at = 0; at < n; ++at) sum += values[at] * w[columns[at]];
        out[i] = sum;
        const float weighted = weights[i] * sum;
        for (std::size_t at = 0; at < n; ++at) back[columns[at]] += weighted * values[at];
    }
}

void NodeRows::project(std::span<const std::uint32_t> columns, const float* w, float* out) const {
    // A zero weight adds nothing, so that the columns of a sparse row may be taken as they come.
    if (x_.is_sparse()) return times(w, out);
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const float* row = x_.values + static_cast<std::size_t>(rows_[i]) * x_.stride;
        float sum = 0;
        for (const std::uint32_t column : columns) sum += row[column] * w[column];
        out[i] = sum;
    }
}

}  // namespace sketchforest
