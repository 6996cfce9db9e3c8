// Ranks of labels by their scores, row by row.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sketchforest {

// The true labels of each row, ascending.
struct Truth {
    const std::int64_t* row_start;
    const std::int64_t* labels;
    std::size_t n_rows;
};

// Scores of all labels of a row, or of those that are not 0, by ascending label.
struct Scores {
    const double* values;
    const std::int64_t* row_start = nullptr;  // null: all labels of all rows
    const std::int64_t* labels = nullptr;
    std::size_t n_labels = 0;
};

// For each true label, how many labels of the row score at least as much, and how many true ones.
void true_ranks(const Truth& truth, const Scores& scores, std::int64_t* n_at_least,
                std::int64_t* n_true_at_least);

}  // namespace sketchforest
