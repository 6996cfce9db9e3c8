// Rows of labels for the kernel that counts them.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "aligned.hpp"
#include "kernels.hpp"

namespace sketchforest {

// Sums of labels over rows with small whole weights, as a bag has them, are whole numbers: they are
// exact in 16 bits, of which a vector adds four times as many as of doubles.
class CountRows {
  public:
    explicit CountRows(std::span<const double> weights)
        : are_whole_(std::ranges::all_of(weights, [](double weight) {
              return 0 <= weight && weight <= 0xff && weight == static_cast<std::uint8_t>(weight);
          })) {}

    // Whether the rows of a node can be counted, by the number of its labels, its weight and the
    // number of rows that it is numbered among.
    bool suit(std::size_t n_labels, double weight, std::size_t n_rows) const {
        return are_whole_ && n_labels <= most_labels && weight <= 0x7fff && n_rows <= most_rows;
    }

    void resize(std::size_t n_rows, std::size_t n_labels) {
        n_vectors_ = n_labels <= count_lanes ? 1 : n_labels <= 3 * count_lanes ? 3 : 7;
        row_bytes_ = sizeof(CountTerms) + n_vectors_ * count_lanes;
        if (rows_.size() < n_rows * row_bytes_) rows_.resize(n_rows * row_bytes_);
    }

    // `place` of each label, below n_labels; `total` is S.
    void set(std::uint32_t row, double weight, std::span<const std::int32_t> labels,
             const std::uint32_t* place, const double* total) {
        std::uint8_t* const terms = rows_.data() + row * row_bytes_;
        std::uint8_t* const counts = terms + sizeof(CountTerms);
        std::memset(counts, 0, n_vectors_ * count_lanes);
        double sum = 0;
        for (const std::int32_t label : labels) {
            counts[place[label]] = static_cast<std::uint8_t>(weight);
            sum += total[label];
        }
        const auto n_labels = static_cast<double>(labels.size());
        const CountTerms values{static_cast<std::int32_t>(weight * weight * n_labels),
                                static_cast<std::int32_t>(weight * sum),
                                static_cast<std::int32_t>(weight), 0};
        std::memcpy(terms, &values, sizeof values);
    }

    CountNode node(double total_squares) const { return {rows_.data(), n_vectors_, total_squares}; }

  private:
    static constexpr std::size_t most_labels = 7 * count_lanes;
    static constexpr std::size_t most_rows = 1 << 16;  // so that they take 8 MB at most

    bool are_whole_;
    std::size_t n_vectors_ = 0;
    std::size_t row_bytes_ = 0;
    AlignedVector<std::uint8_t> rows_;
};

}  // namespace sketchforest
