// Rows of labels for the kernel that counts them.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include "aligned.hpp"
#include "kernels.hpp"
#include "row_subset.hpp"

namespace sketchforest {

// Sums of labels over rows with small whole weights, as a bag has them, are whole numbers: they are
// exact in 16 bits, and a vector adds four times as many of them as of doubles.
class CountRows {
  public:
    explicit CountRows(std::span<const double> weights)
        : are_whole_(std::ranges::all_of(weights, [](double weight) {
              return 0 <= weight && weight <= 0xff && weight == static_cast<std::uint8_t>(weight);
          })) {}

    // Whether the rows of a node can be counted, given the number of its labels, its weight (sums
    // must fit into 15 bits) and the number of rows in its subset.
    bool suit(std::size_t n_labels, double weight, std::size_t n_rows) const {
        return are_whole_ && n_labels <= most_labels && weight <= 0x7fff && n_rows <= most_rows;
    }

    // Fills the rows of a node of `n_labels` labels, each with its `place` among them and its sum
    // over the node, `total`; labels_of(row) are those of a row.
    template <class LabelsOf>
    void fill(const RowSubset& subset, Range node, std::size_t n_labels, const std::uint32_t* place,
              const double* total, LabelsOf labels_of) {
        if (n_labels <= count_lanes)
            fill_rows<1>(subset, node, place, total, labels_of);
        else if (n_labels <= 3 * count_lanes)
            fill_rows<3>(subset, node, place, total, labels_of);
        else
            fill_rows<7>(subset, node, place, total, labels_of);
    }

    CountNode node(double total_squares) const { return {rows_.data(), n_vectors_, total_squares}; }

  private:
    static constexpr std::size_t most_labels = 7 * count_lanes;
    static constexpr std::size_t most_rows = 1 << 16;  // so that they take 8 MB at most

    // V is known at compile time, so that zeros are written without a call for each row.
    template <std::size_t V, class LabelsOf>
    void fill_rows(const RowSubset& subset, Range node, const std::uint32_t* place,
                   const double* total, LabelsOf labels_of) {
        constexpr std::size_t row_bytes = sizeof(CountTerms) + V * count_lanes;
        n_vectors_ = V;
        if (rows_.size() < subset.row.size() * row_bytes)
            rows_.resize(subset.row.size() * row_bytes);
        for (const std::uint32_t row : node.rows(subset)) {
            std::uint8_t* const terms = rows_.data() + row * row_bytes;
            std::uint8_t* const counts = terms + sizeof(CountTerms);
            const double weight = subset.weight[row];
            const std::span<const std::int32_t> labels = labels_of(row);
            std::memset(counts, 0, V * count_lanes);
            double sum = 0;
            for (const std::int32_t label : labels) {
                counts[place[label]] = static_cast<std::uint8_t>(weight);
                sum += total[label];
            }
            const double squares = weight * weight * static_cast<double>(labels.size());
            const CountTerms values{static_cast<std::int32_t>(squares),
                                    static_cast<std::int32_t>(weight * sum),
                                    static_cast<std::int32_t>(weight), 0};
            std::memcpy(terms, &values, sizeof values);
        }
    }

    bool are_whole_;
    std::size_t n_vectors_ = 0;
    AlignedVector<std::uint8_t> rows_;
};

}  // namespace sketchforest
