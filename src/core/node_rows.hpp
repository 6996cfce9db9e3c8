// The rows of X in one node of an oblique tree, and products with them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "aligned.hpp"
#include "kernels.hpp"
#include "oblique.hpp"
#include "team.hpp"

namespace sketchforest {

// Sparse rows of very many features are copied, with the columns that occur in the node numbered
// anew: ten passes over them follow, and what they add to fits into the cache.
class NodeRows {
  public:
    explicit NodeRows(const FloatRows& x);

    void load(std::span<const std::int32_t> rows, const Pieces& pieces);

    std::size_t n_columns() const { return n_columns_; }
    // The same, up to a multiple of 8: what is written for columns has zeros at its end.
    std::size_t width() const { return (n_columns_ + 7) / 8 * 8; }
    std::int32_t feature(std::size_t column) const {
        return is_compact_ ? features_[column] : static_cast<std::int32_t>(column);
    }

    // Of dense X: out[row] = x[row, column]
    void column(std::uint32_t column, float* out) const;

    // Weighted sums of each column and of its squares, and what transposed_times(v) gives.
    void moments(const float* weights, const float* v, float* sums, float* squares,
                 float* products);
    // out[column] = sum over rows of v[row] x[row, column]
    void transposed_times(const float* v, float* out);
    // out[row] = sum over columns of x[row, column] w[column]
    void times(const float* w, float* out) const;
    // The same, and back[column] = sum over rows of weights[row] out[row] x[row, column], while a
    // row is at hand.
    void times_and_back(const float* w, const float* weights, float* out, float* back);
    // The same for a direction with few columns, in the order of columns, to the last bit as a
    // prediction has it.
    void project(std::span<const std::uint32_t> columns, const float* w, float* out) const;

  private:
    struct Entries {
        const std::uint32_t* columns;
        const float* values;
        std::size_t n;
    };
    Entries row(std::size_t i) const {
        if (is_compact_)
            return {columns_.data() + start_[i], values_.data() + start_[i],
                    start_[i + 1] - start_[i]};
        const auto start = x_.row_start[rows_[i]];
        return {reinterpret_cast<const std::uint32_t*>(x_.columns + start), x_.values + start,
                static_cast<std::size_t>(x_.row_start[rows_[i] + 1] - start)};
    }
    DenseRows dense(std::size_t begin, std::size_t end) const {
        return {x_.values, rows_.data() + begin, end - begin, x_.stride};
    }
    void find_features(std::size_t begin, std::size_t end, std::uint64_t* occurs) const;
    void compact();
    void add_moments(std::size_t begin, std::size_t end, const float* weights, const float* v,
                     float* out) const;

    FloatRows x_;
    std::span<const std::int32_t> rows_;
    std::optional<Pieces> pieces_;
    bool is_compact_;
    std::size_t n_columns_;
    std::vector<std::int32_t> features_;    // of the columns, ascending
    std::vector<std::uint32_t> column_of_;  // feature -> column, of features that occur
    std::vector<std::uint64_t> occurs_;     // a bit for each feature
    std::vector<std::size_t> start_;        // of rows in the two arrays below
    std::vector<std::uint32_t> columns_;
    std::vector<float> values_;
    AlignedVector<float> at_once_;  // four floats a column: three sums that are added to together
    AlignedVector<float> both_, by_piece_;
    std::vector<std::uint64_t> in_piece_;
};

}  // namespace sketchforest
