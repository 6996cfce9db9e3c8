#include "binned_cuts.hpp"

#include <algorithm>

namespace sketchforest {
namespace {

constexpr std::size_t block_rows = 1024;
constexpr std::size_t most_bins = 256;  // one of missing values included

}  // namespace

void BinnedCuts::search(const NodeSearch& search, const DenseNode& outputs,
                        std::span<const std::uint32_t> features, Split* splits) {
    stride_ = (before_gradients + outputs.stride + 7) / 8 * 8;
    if (gathered_.empty()) gathered_.assign(block_rows * stride_, 0);  // padding stays so
    rows_.resize(block_rows);
    total_.resize(stride_);
    left_.resize(stride_);
    sums_.assign(features.size() * most_bins * stride_, 0);
    if (outputs.wide)
        add_up<double>(search, outputs, features);
    else
        add_up<float>(search, outputs, features);
    for (std::size_t i = 0; i < features.size(); ++i)
        splits[i] = best_cut(search, features[i], sums_.data() + i * most_bins * stride_);
}

template <class T>
void BinnedCuts::add_up(const NodeSearch& search, const DenseNode& outputs,
                        std::span<const std::uint32_t> features) {
    const auto rows = search.rows();
    for (std::size_t first = 0; first < rows.size(); first += block_rows) {
        const auto block = rows.subspan(first, std::min(block_rows, rows.size() - first));
        float* to = gathered_.data();
        for (std::size_t i = 0; i < block.size(); ++i, to += stride_) {
            const double weight = outputs.weights[block[i]];
            const T* z = static_cast<const T*>(outputs.z) + block[i] * outputs.stride;
            rows_[i] = static_cast<std::uint32_t>(search.subset->row[block[i]]);
            to[0] = static_cast<float>(weight);
            to[1] = 1;
            for (std::size_t c = 0; c < outputs.stride; ++c)
                to[before_gradients + c] = static_cast<float>(weight * z[c]);
        }
        for (std::size_t i = 0; i < features.size(); ++i)
            kernels().add_to_bins({rows_.data(), block.size(), gathered_.data(), stride_},
                                  search.codes.bins + features[i] * search.codes.n_rows,
                                  sums_.data() + i * most_bins * stride_);
    }
}

Split BinnedCuts::best_cut(const NodeSearch& search, std::uint32_t feature, const double* bins) {
    const Codes& codes = search.codes;
    const std::size_t n_bins = codes.n_bins(feature);
    std::fill(total_.begin(), total_.end(), 0.0);
    for (std::size_t bin = 0; bin <= n_bins; ++bin)
        for (std::size_t i = 0; i < stride_; ++i) total_[i] += bins[bin * stride_ + i];
    const BinCut cut = kernels().find_bin_cut({bins, n_bins, total_.data(), stride_,
                                               static_cast<double>(search.limits.min_rows), 0,
                                               left_.data(), search.limits.min_weight});
    if (!(cut.score > -std::numeric_limits<double>::infinity())) return {};
    const double* const missing = bins + n_bins * stride_;
    double weight = cut.missing_left ? missing[0] : 0, n_left = cut.missing_left ? missing[1] : 0;
    for (std::size_t bin = 0; bin <= cut.bin; ++bin) {
        weight += bins[bin * stride_];
        n_left += bins[bin * stride_ + 1];
    }
    NodeSearch found = search;
    found.keep({cut.score, 1}, feature, static_cast<std::size_t>(n_left), weight);
    const std::int64_t place = codes.bin_start[feature] + cut.bin;
    found.best.last_left = codes.bin_highest[place];
    if (cut.bin + 1 < n_bins)
        found.best.first_right = codes.bin_lowest[place + 1];
    else
        found.best.only_missing_right = true;
    if (missing[1] > 0) found.best.missing_left = cut.missing_left;
    return found.best;
}

}  // namespace sketchforest
