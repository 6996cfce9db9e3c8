#include "sparse_side.hpp"

#include <algorithm>
#include <utility>

namespace sketchforest {

SplitPoint SparseSide::scan(const SparseNode& node, const Scan& scan, const Limits& limits,
                            const Score& best) {
    if (node.reads_often && scan.n_prefix == 0 && scan.n_entries == limits.n_rows)
        return scan_all(node, scan, limits, best);
    SplitPoint cut{best, 0, 0};
    double weight = 0;
    double side_squares = 0;   // |S_A|^2
    double side_by_total = 0;  // S . S_A
    const std::size_t most = limits.n_rows - limits.min_rows;
    const Entry* entries = scan.entries;
    std::size_t i = 0;
    for (; i < scan.n_entries; ++i) {
        const std::uint32_t row = entries[i].row;
        weight += node.weights[row];
        const auto [squares, by_total] = join(node, row);
        side_squares += squares;
        side_by_total += by_total;

        const std::size_t taken = i + 1;
        if (taken < scan.n_prefix || (taken == scan.n_prefix && !scan.score_prefix)) continue;
        if (taken > scan.n_prefix && taken < scan.n_entries &&
            entries[taken].code == entries[i].code)
            continue;
        if (taken < limits.min_rows) continue;
        if (taken > most) break;
        const double other = limits.weight - weight;
        if (weight < limits.min_weight || other < limits.min_weight) continue;
        const double rest_squares = node.squares - 2 * side_by_total + side_squares;
        const Score score = Score::of(side_squares, weight, rest_squares, other);
        if (score > cut.score) cut = {score, taken, weight};
    }
    clear(node, {entries, std::min(i + 1, scan.n_entries)});
    return cut;
}

// Many cuts: first what they are made of, one after the other, then their scores, side by side.
SplitPoint SparseSide::scan_all(const SparseNode& node, const Scan& scan, const Limits& limits,
                                const Score& best) {
    SplitPoint cut{best, 0, 0};
    double squares = 0, by_total = 0, weight = 0;
    // Side B gets min_rows rows.
    const std::size_t n = std::min(scan.n_entries, limits.n_rows - limits.min_rows);
    const std::size_t last = scan.n_entries - 1;
    constexpr std::size_t ahead = 12;
    for (std::size_t first = 0; first < n; first += CutTerms::capacity) {
        const std::size_t size = std::min(n - first, CutTerms::capacity);
        for (std::size_t i = 0; i < size; ++i) {
            const std::uint32_t row = scan.entries[first + i].row;
            // Rows lie far apart in a large node, so the next ones are prefetched.
            __builtin_prefetch(node.lines.data() +
                               scan.entries[std::min(first + i + ahead, last)].row);
            const RowTerms& terms = node.lines[row].terms;
            squares += add(node, row) + terms.squares;
            by_total += terms.by_total;
            weight += terms.weight;
            chunk_.squares[i] = is_cut(scan, limits, first + i) ? squares : CutTerms::no_cut;
            chunk_.by_total[i] = by_total;
            chunk_.weights[i] = weight;
        }
        kernels().choose_cut(chunk_, size, first + 1, node.squares, limits, cut);
    }
    clear(node, {scan.entries, n});
    return cut;
}

void SparseSide::clear(const SparseNode& node, std::span<const Entry> entries) {
    if (is_large(node, entries.size()))
        std::fill(side_.begin(), side_.end(), 0.0);
    else
        for (const Entry& entry : entries)
            node.each_label(entry.row, [&](std::int32_t label, double) { side_[label] = 0; });
}

// Whether this many rows have about as many labels as there are outputs.
bool SparseSide::is_large(const SparseNode& node, std::size_t n_rows) const {
    return n_rows * node.rows->labels.size() >= side_.size() * (node.rows->start.size() - 1);
}

// Adds a row; 2 S_A . wz, of S_A before. A row's labels are distinct, so that several can be read
// before any is written.
double SparseSide::add(const SparseNode& node, std::uint32_t row) {
    double before = 0;
    if (node.has_values) {
        node.each_label(row, [&](std::int32_t label, double x) {
            before += x * side_[label];
            side_[label] += x;
        });
        return 2 * before;
    }
    const RowLine& line = node.lines[row];
    const double weight = line.terms.weight;
    before = line.n_labels > 0
                 ? add_labels(node.padding, line.labels, line.n_labels, weight)
                 : add_labels(node.padding, node.rows->labels.data() + node.rows->start[row],
                              node.rows->n_labels[row], weight);
    side_.back() = 0;  // of padding
    return 2 * weight * before;
}

template <class Label>
double SparseSide::add_labels(std::size_t padding, const Label* labels, std::size_t n,
                              double weight) {
    return padding == 4 ? add_padded<4>(labels, n, weight) : add_padded<8>(labels, n, weight);
}

template <int Padding, class Label>
double SparseSide::add_padded(const Label* labels, std::size_t n, double weight) {
    double* const side = side_.data();
    double before = 0;
    for (std::size_t i = 0; i < n; i += Padding) {
        double value[Padding];
        for (int j = 0; j < Padding; ++j) value[j] = side[labels[i + j]];
        for (int j = 0; j < Padding; j += 4)
            before += (value[j] + value[j + 1]) + (value[j + 2] + value[j + 3]);
        for (int j = 0; j < Padding; ++j) side[labels[i + j]] = value[j] + weight;
    }
    return before;
}

// Adds a row; the changes of |S_A|^2 and S.S_A.
std::pair<double, double> SparseSide::join(const SparseNode& node, std::uint32_t row) {
    if (node.reads_often) {
        const RowTerms& terms = node.lines[row].terms;
        return {add(node, row) + terms.squares, terms.by_total};
    }
    double squares = 0, by_total = 0;
    if (node.has_values) {
        node.each_label(row, [&](std::int32_t label, double x) {
            squares += x * (2 * side_[label] + x);
            by_total += x * node.total[label];
            side_[label] += x;
        });
        return {squares, by_total};
    }
    const std::int32_t* labels = node.rows->labels.data() + node.rows->start[row];
    const std::size_t n = node.rows->n_labels[row];
    const double weight = node.weights[row];
    const double* const of_node = node.total.data();
    double* const side = side_.data();
    // Two sums at a time keep the adder busy.
    double before[2]{}, total[2]{};
    std::size_t i = 0;
    for (; i + 1 < n; i += 2) {
        const double first = side[labels[i]], second = side[labels[i + 1]];
        before[0] += first;
        before[1] += second;
        total[0] += of_node[labels[i]];
        total[1] += of_node[labels[i + 1]];
        side[labels[i]] = first + weight;
        side[labels[i + 1]] = second + weight;
    }
    if (i < n) {
        before[0] += side[labels[i]];
        total[0] += of_node[labels[i]];
        side[labels[i]] += weight;
    }
    return {2 * weight * (before[0] + before[1]) + static_cast<double>(n) * weight * weight,
            weight * (total[0] + total[1])};
}

}  // namespace sketchforest
