// One side of a cut of a node with sparse outputs, to which rows are added one after the other.
#pragma once

#include <vector>

#include "aligned.hpp"
#include "criterion.hpp"
#include "label_lists.hpp"

namespace sketchforest {

// What a scan reads of a row, in one cache line.
struct alignas(64) RowLine {
    static constexpr std::size_t most_columns = 0xffff;
    static constexpr std::size_t most_labels = 16;
    RowTerms terms;
    std::uint16_t n_labels;  // 0: there are none, or they are elsewhere
    std::uint16_t labels[most_labels];
};

// A node whose splits are scored, which several threads may read.
struct SparseNode {
    const LabelLists* rows = nullptr;
    const double* weights = nullptr;
    std::vector<double> total;     // S
    double squares = 0;            // |S|^2
    AlignedVector<RowLine> lines;  // of each row, where rows are read often
    bool reads_often = false;      // the search reads each row more than once
    bool has_values = false;       // outputs other than 1
    std::size_t padding = 1;

    // visit(label, weighted value) for each label of a row
    template <class Visit>
    void each_label(std::uint32_t row, Visit visit) const {
        const std::uint64_t begin = rows->start[row], end = begin + rows->n_labels[row];
        const std::int32_t* labels = rows->labels.data();
        const double weight = weights[row];
        if (has_values) {
            const float* values = rows->values.data();
            for (std::uint64_t at = begin; at < end; ++at) visit(labels[at], weight * values[at]);
        } else {
            for (std::uint64_t at = begin; at < end; ++at) visit(labels[at], weight);
        }
    }
};

class SparseSide {
  public:
    explicit SparseSide(std::size_t n_outputs) : side_(n_outputs + 1) {}  // the last is of padding

    SplitPoint scan(const SparseNode& node, const Scan& scan, const Limits& limits,
                    const Score& best);

  private:
    SplitPoint scan_all(const SparseNode& node, const Scan& scan, const Limits& limits,
                        const Score& best);
    std::pair<double, double> join(const SparseNode& node, std::uint32_t row);
    double add(const SparseNode& node, std::uint32_t row);
    template <class Label>
    double add_labels(std::size_t padding, const Label* labels, std::size_t n, double weight);
    template <int Padding, class Label>
    double add_padded(const Label* labels, std::size_t n, double weight);
    void clear(const SparseNode& node, std::span<const Entry> entries);
    bool is_large(const SparseNode& node, std::size_t n_rows) const;

    std::vector<double> side_;  // S_A; zero between scans
    CutTerms chunk_;
};

}  // namespace sketchforest
