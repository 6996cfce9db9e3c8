#include "projected_cuts.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace sketchforest {

SplitPoint ProjectedCuts::find(const float* projected, const CentredOutputs& outputs,
                               const DenseNode& node, double weight, double min_side) {
    const std::size_t n = outputs.n_rows;
    SplitPoint cut{{}, 0, 0};
    if (!sort(projected, outputs.pieces)) return cut;
    if (outputs.pieces.count() > 1) sum_before(node, outputs.pieces);
    const auto share = static_cast<std::size_t>(std::ceil(min_side * static_cast<double>(n)));
    const std::size_t least = std::max<std::size_t>(params_.min_samples_leaf, 1);
    for (const std::size_t min_rows : {std::max(share, least), least}) {
        if (2 * min_rows > n) continue;
        cut = scan({n, weight, min_rows, params_.min_weight_leaf}, node, outputs.pieces);
        if (cut.n_taken) break;
    }
    return cut;
}

bool ProjectedCuts::sort(const float* projected, const Pieces& pieces) {
    const std::size_t n = pieces.begin(pieces.count());
    if (entries_.size() < n) entries_.resize(n);
    std::uint32_t lowest[Pieces::most], highest[Pieces::most];
    pieces.each([&](std::size_t piece, std::size_t begin, std::size_t end) {
        std::uint32_t low = ~0u, high = 0;
        for (std::size_t i = begin; i < end; ++i) {
            const std::uint32_t code = sortable(projected[i]);
            entries_[i] = {code, static_cast<std::uint32_t>(i)};
            low = std::min(low, code);
            high = std::max(high, code);
        }
        lowest[piece] = low;
        highest[piece] = high;
    });
    const std::uint32_t low = *std::min_element(lowest, lowest + pieces.count());
    const std::uint32_t high = *std::max_element(highest, highest + pieces.count());
    constexpr float most = std::numeric_limits<float>::max();
    if (low < sortable(-most) || high > sortable(most)) return false;
    if (pieces.count() > 1)
        sort_in_pieces(low, high, pieces);
    else
        sorter_.sort(entries_.data(), n, low, high, false);
    return true;
}

// Rows are distributed to ranges of values, each sorted by itself.
void ProjectedCuts::sort_in_pieces(std::uint32_t lowest, std::uint32_t highest,
                                   const Pieces& pieces) {
    constexpr std::size_t n_ranges = 256;
    const std::size_t n = pieces.begin(pieces.count());
    const double first = from_sortable(lowest);
    const double width = from_sortable(highest) - first;
    const double scale = width > 0 ? (n_ranges - 1) / width : 0;
    const auto range = [&](const Entry& entry) {
        return static_cast<std::size_t>((from_sortable(entry.code) - first) * scale);
    };
    std::vector<std::size_t> at(pieces.count() * n_ranges);
    pieces.each([&](std::size_t piece, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) ++at[piece * n_ranges + range(entries_[i])];
    });
    std::size_t range_start[n_ranges + 1];
    std::size_t start = 0;
    for (std::size_t r = 0; r < n_ranges; ++r) {
        range_start[r] = start;
        for (std::size_t piece = 0; piece < pieces.count(); ++piece)
            start += std::exchange(at[piece * n_ranges + r], start);
    }
    range_start[n_ranges] = start;
    if (scattered_.size() < n) scattered_.resize(n);
    pieces.each([&](std::size_t piece, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i)
            scattered_[at[piece * n_ranges + range(entries_[i])]++] = entries_[i];
    });
    std::swap(entries_, scattered_);
    pieces.team().run(n_ranges, [&](std::size_t r) {
        Entry* const begin = entries_.data() + range_start[r];
        Entry* const end = entries_.data() + range_start[r + 1];
        // Rows of equal codes keep their order, as where all are sorted at once.
        std::sort(begin, end, [](const Entry& a, const Entry& b) {
            return a.code != b.code ? a.code < b.code : a.row < b.row;
        });
    });
}

SplitPoint ProjectedCuts::scan(const Limits& limits, const DenseNode& node, const Pieces& pieces) {
    if (pieces.count() == 1)
        return kernels().scan_float({entries_.data(), limits.n_rows, 0, false}, limits, node, {});
    SplitPoint cuts[Pieces::most];
    pieces.team().run(pieces.count(), [&](std::size_t piece) {
        const std::size_t begin = begin_[piece], size = begin_[piece + 1] - begin;
        DenseNode of_piece = node;
        of_piece.side = side_.data() + piece * node.stride;
        of_piece.before = before_.data() + piece * node.stride;
        of_piece.weight_before = weight_before_[piece];
        const Scan scan{entries_.data() + begin, size, 0, false, begin};
        cuts[piece] = kernels().scan_float(scan, limits, of_piece, {});
    });
    SplitPoint best{{}, 0, 0};  // of equal cuts the first one
    for (std::size_t piece = 0; piece < pieces.count(); ++piece)
        if (cuts[piece].n_taken && cuts[piece].score > best.score) best = cuts[piece];
    return best;
}

// What the rows before each piece add up to.
void ProjectedCuts::sum_before(const DenseNode& node, const Pieces& pieces) {
    const std::size_t n = pieces.begin(pieces.count()), count = pieces.count();
    begin_.assign(1, 0);
    for (std::size_t piece = 1; piece <= count; ++piece) {
        std::size_t begin = std::max(begin_.back(), pieces.begin(piece));
        while (0 < begin && begin < n && entries_[begin].code == entries_[begin - 1].code) ++begin;
        begin_.push_back(begin);
    }
    if (rows_.size() < n) rows_.resize(n);
    side_.resize(count * node.stride);
    before_.assign((count + 1) * node.stride, 0);
    weight_before_.assign(count + 1, 0);
    pieces.team().run(count, [&](std::size_t piece) {
        const std::size_t begin = begin_[piece], end = begin_[piece + 1];
        double weight = 0;
        for (std::size_t i = begin; i < end; ++i) {
            rows_[i] = entries_[i].row;
            weight += node.weights[rows_[i]];
        }
        weight_before_[piece + 1] = weight;
        kernels().sum_float(node.z, node.weights, node.stride, rows_.data() + begin, end - begin,
                            before_.data() + (piece + 1) * node.stride);
    });
    for (std::size_t piece = 1; piece <= count; ++piece) {
        weight_before_[piece] += weight_before_[piece - 1];
        for (std::size_t c = 0; c < node.stride; ++c)
            before_[piece * node.stride + c] += before_[(piece - 1) * node.stride + c];
    }
}

}  // namespace sketchforest
