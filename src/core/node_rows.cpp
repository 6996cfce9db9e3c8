#include "node_rows.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "kernels.hpp"

namespace sketchforest {

namespace {

// This many floats, a few times over, stay in the L1 cache.
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

void NodeRows::load(std::span<const std::int32_t> rows, const Pieces& pieces) {
    rows_ = rows;
    pieces_ = pieces;
    // A piece has a sum for each column.
    constexpr std::size_t few_pieces = 16;
    if (x_.n_features > few_features) pieces_ = pieces.at_most(few_pieces);
    if (is_compact_) compact();
}

void NodeRows::find_features(std::size_t begin, std::size_t end, std::uint64_t* occurs) const {
    for (std::size_t i = begin; i < end; ++i)
        for (auto at = x_.row_start[rows_[i]]; at < x_.row_start[rows_[i] + 1]; ++at)
            occurs[x_.columns[at] >> 6] |= std::uint64_t{1} << (x_.columns[at] & 63);
}

void NodeRows::compact() {
    const std::size_t n_words = occurs_.size();
    if (pieces_->count() > 1) {
        in_piece_.assign(pieces_->count() * n_words, 0);
        pieces_->each([&](std::size_t piece, std::size_t begin, std::size_t end) {
            find_features(begin, end, in_piece_.data() + piece * n_words);
        });
        for (std::size_t at = 0; at < in_piece_.size(); ++at)
            occurs_[at % n_words] |= in_piece_[at];
    } else {
        find_features(0, rows_.size(), occurs_.data());
    }
    // In ascending order without a sort, which would take as long as a pass over the rows.
    features_.clear();
    for (std::size_t word = 0; word < n_words; ++word) {
        for (std::uint64_t bits = occurs_[word]; bits; bits &= bits - 1) {
            const auto feature = static_cast<std::int32_t>(64 * word + std::countr_zero(bits));
            column_of_[feature] = static_cast<std::uint32_t>(features_.size());
            features_.push_back(feature);
        }
        occurs_[word] = 0;
    }
    n_columns_ = features_.size();
    start_.assign(1, 0);
    for (const std::int32_t row : rows_)
        start_.push_back(start_.back() +
                         static_cast<std::size_t>(x_.row_start[row + 1] - x_.row_start[row]));
    if (columns_.size() < start_.back()) {
        columns_.resize(start_.back());
        values_.resize(start_.back());
    }
    pieces_->each([&](std::size_t, std::size_t begin, std::size_t end) {
        std::size_t to = start_[begin];
        for (std::size_t i = begin; i < end; ++i)
            for (auto at = x_.row_start[rows_[i]]; at < x_.row_start[rows_[i] + 1]; ++at, ++to) {
                columns_[to] = column_of_[x_.columns[at]];
                values_[to] = x_.values[at];
            }
    });
}

void NodeRows::column(std::uint32_t column, float* out) const {
    const float* values = x_.values + column;
    for (std::size_t i = 0; i < rows_.size(); ++i)
        out[i] = values[static_cast<std::size_t>(rows_[i]) * x_.stride];
}

void NodeRows::moments(const float* weights, const float* v, float* sums, float* squares,
                       float* products) {
    const std::size_t width = this->width();
    if (!x_.is_sparse()) {
        both_.resize(2 * width);
        pieces_->add_up(2 * width, both_.data(), by_piece_,
                        [&](std::size_t, std::size_t begin, std::size_t end, float* out) {
                            std::fill_n(out, 2 * width, 0.0f);
                            kernels().dense_moments(dense(begin, end), weights + begin, out,
                                                    out + width);
                        });
        std::copy_n(both_.data(), width, sums);
        std::copy_n(both_.data() + width, width, squares);
        return transposed_times(v, products);
    }
    at_once_.resize(4 * width);
    pieces_->add_up(4 * width, at_once_.data(), by_piece_,
                    [&](std::size_t, std::size_t begin, std::size_t end, float* out) {
                        std::fill_n(out, 4 * width, 0.0f);
                        add_moments(begin, end, weights, v, out);
                    });
    for (std::size_t column = 0; column < width; ++column) {
        sums[column] = at_once_[4 * column];
        squares[column] = at_once_[4 * column + 1];
        products[column] = at_once_[4 * column + 2];
    }
}

void NodeRows::add_moments(std::size_t begin, std::size_t end, const float* weights, const float* v,
                           float* out) const {
    for (std::size_t i = begin; i < end; ++i) {
        const auto [columns, values, n] = row(i);
        const Four factors{weights[i], weights[i], v[i], 0};
        for (std::size_t at = 0; at < n; ++at) {
            float* const to = out + 4 * static_cast<std::size_t>(columns[at]);
            Four added = factors * values[at];
            added[1] *= values[at];
            Four sums_so_far;
            std::memcpy(&sums_so_far, to, sizeof sums_so_far);
            sums_so_far += added;
            std::memcpy(to, &sums_so_far, sizeof sums_so_far);
        }
    }
}

void NodeRows::transposed_times(const float* v, float* out) {
    pieces_->add_up(
        width(), out, by_piece_, [&](std::size_t, std::size_t begin, std::size_t end, float* sums) {
            std::fill_n(sums, width(), 0.0f);
            if (!x_.is_sparse())
                return kernels().dense_transposed_times(dense(begin, end), v + begin, sums);
            for (std::size_t i = begin; i < end; ++i) {
                const auto [columns, values, n] = row(i);
                for (std::size_t at = 0; at < n; ++at) sums[columns[at]] += v[i] * values[at];
            }
        });
}

void NodeRows::times(const float* w, float* out) const {
    pieces_->each([&](std::size_t, std::size_t begin, std::size_t end) {
        if (!x_.is_sparse()) return kernels().dense_times(dense(begin, end), w, out + begin);
        for (std::size_t i = begin; i < end; ++i) {
            const auto [columns, values, n] = row(i);
            float sum = 0;
            for (std::size_t at = 0; at < n; ++at) sum += values[at] * w[columns[at]];
            out[i] = sum;
        }
    });
}

void NodeRows::times_and_back(const float* w, const float* weights, float* out, float* back) {
    pieces_->add_up(width(), back, by_piece_,
                    [&](std::size_t, std::size_t begin, std::size_t end, float* sums) {
                        std::fill_n(sums, width(), 0.0f);
                        if (!x_.is_sparse())
                            return kernels().dense_times_and_back(
                                dense(begin, end), w, weights + begin, out + begin, sums);
                        for (std::size_t i = begin; i < end; ++i) {
                            const auto [columns, values, n] = row(i);
                            float sum = 0;
                            for (std::size_t at = 0; at < n; ++at)
                                sum += values[at] * w[columns[at]];
                            out[i] = sum;
                            const float weighted = weights[i] * sum;
                            for (std::size_t at = 0; at < n; ++at)
                                sums[columns[at]] += weighted * values[at];
                        }
                    });
}

void NodeRows::project(std::span<const std::uint32_t> columns, const float* w, float* out) const {
    // A zero weight adds nothing, so the columns of a sparse row may be taken as they are.
    if (x_.is_sparse()) return times(w, out);
    pieces_->each([&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const float* row = x_.values + static_cast<std::size_t>(rows_[i]) * x_.stride;
            float sum = 0;
            for (const std::uint32_t column : columns) sum += row[column] * w[column];
            out[i] = sum;
        }
    });
}

}  // namespace sketchforest
