#include "direction.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "kernels.hpp"

namespace sketchforest {
namespace {

// The low bits of a float, where effects are counted: 8 bits of exponent and 3 others remain.
constexpr int ignored_bits = 20;
constexpr std::uint32_t n_buckets = 1u << (31 - ignored_bits);

bool make_unit(float* v, std::size_t n) {
    const double squares = kernels().squared_length(v, n);
    if (!(squares > 1e-30)) return false;
    const auto scale = static_cast<float>(1 / std::sqrt(squares));
    for (std::size_t i = 0; i < n; ++i) v[i] *= scale;
    return true;
}

// Returns the mean.
float centre(float* v, const CentredOutputs& outputs) {
    const double sum = outputs.pieces.sum(0, [&](std::size_t begin, std::size_t end, double sum) {
        for (std::size_t i = begin; i < end; ++i)
            sum += static_cast<double>(outputs.weights[i]) * v[i];
        return sum;
    });
    const auto mean = static_cast<float>(sum / outputs.weight);
    outputs.pieces.each([&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) v[i] -= mean;
    });
    return mean;
}

}  // namespace

DirectionFinder::DirectionFinder(const ObliqueParams& params, std::size_t n_rows,
                                 std::size_t n_features, std::size_t stride)
    : params_(params), leading_(stride), next_(stride), projected_(n_rows), counts_(n_buckets) {
    const std::size_t n_columns = (n_features + 7) / 8 * 8;
    for (auto* columns :
         {&sums_, &variances_, &effects_, &weights_, &kept_, &gradient_, &step_, &back_})
        columns->resize(n_columns);
    for (auto* rows : {&target_, &residual_, &moved_, &scaled_}) rows->resize(n_rows);
}

// Power steps find the leading direction from a random start; a few of them keep trees different.
bool DirectionFinder::aim_at_leading(const CentredOutputs& outputs, Stream& stream) {
    const std::size_t stride = outputs.stride;
    for (float& component : leading_) component = static_cast<float>(2 * stream.uniform() - 1);
    for (std::uint32_t step = 0; step < params_.n_power_steps; ++step) {
        kernels().power_step(outputs.z, outputs.weights, outputs.n_rows, stride, leading_.data(),
                             next_.data());
        std::swap(leading_, next_);
        if (!make_unit(leading_.data(), stride)) return false;
    }
    return true;
}

bool DirectionFinder::aim_at(const double* direction) {
    std::copy_n(direction, next_.size(), next_.begin());
    if (!make_unit(next_.data(), next_.size())) return false;
    std::swap(leading_, next_);
    return true;
}

bool DirectionFinder::find(NodeRows& x, const CentredOutputs& outputs, std::uint32_t n_steps) {
    outputs.pieces.each([&](std::size_t, std::size_t begin, std::size_t end) {
        kernels().multiply_rows(outputs.z + begin * outputs.stride, end - begin, outputs.stride,
                                leading_.data(), target_.data() + begin);
        for (std::size_t i = begin; i < end; ++i) scaled_[i] = outputs.weights[i] * target_[i];
    });
    if (is_new_node_) {
        if (!begin_columns(x, outputs)) return false;
        is_new_node_ = false;
    } else {
        x.transposed_times(scaled_.data(), gradient_.data());
    }
    if (!fit_ridge(x, outputs, n_steps)) return false;
    outputs.pieces.each([&](std::size_t, std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) projected_[i] = target_[i] - residual_[i];
    });
    return true;
}

// The variances of the columns in this node, and the gradient, in one pass; false if nothing
// varies.
bool DirectionFinder::begin_columns(NodeRows& x, const CentredOutputs& outputs) {
    x.moments(outputs.weights, scaled_.data(), sums_.data(), variances_.data(), gradient_.data());
    // Rounding error of a constant column, which grows with the number of floats in a sum.
    const double rounding = 2e-6 + 2e-7 * std::sqrt(static_cast<double>(outputs.n_rows));
    const double lengths =
        kernels().vary(sums_.data(), outputs.weight, rounding, x.width(), variances_.data());
    if (!(lengths > 0)) return false;
    penalty_ = params_.ridge * lengths / outputs.weight;
    return true;
}

bool DirectionFinder::finish(const NodeRows& x, const CentredOutputs& outputs) {
    keep_strongest(x, outputs.n_rows);
    if (columns_.empty()) return false;
    x.project(columns_, weights_.data(), projected_.data());
    return true;
}

// Minimizes the weighted sum of (target - x . w - constant)^2 + penalty |w|^2. The columns are
// centered without being written: their sums are known, and the target is centered, so that the
// first gradient needs no correction.
bool DirectionFinder::fit_ridge(NodeRows& x, const CentredOutputs& outputs, std::uint32_t n_steps) {
    const std::size_t width = x.width();
    const Pieces& pieces = outputs.pieces;
    std::fill_n(weights_.data(), width, 0.0f);
    std::copy_n(target_.data(), outputs.n_rows, residual_.data());
    std::copy_n(gradient_.data(), width, step_.data());
    double squares = kernels().squared_length(gradient_.data(), width);
    for (std::uint32_t step = 0; step < n_steps && squares > 0; ++step) {
        const bool is_last = step + 1 == n_steps;
        if (is_last)
            x.times(step_.data(), moved_.data());
        else
            x.times_and_back(step_.data(), outputs.weights, moved_.data(), back_.data());
        const float mean = centre(moved_.data(), outputs);
        const double of_step = penalty_ * kernels().squared_length(step_.data(), width);
        const double curvature =
            pieces.sum(of_step, [&](std::size_t begin, std::size_t end, double sum) {
                for (std::size_t i = begin; i < end; ++i)
                    sum += static_cast<double>(outputs.weights[i]) * moved_[i] * moved_[i];
                return sum;
            });
        if (!(curvature > 0)) break;
        const auto length = static_cast<float>(squares / curvature);
        pieces.each([&](std::size_t, std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) residual_[i] -= length * moved_[i];
        });
        const double previous = squares;
        squares = kernels().descend({step_.data(), is_last ? nullptr : back_.data(), sums_.data(),
                                     length, mean, static_cast<float>(penalty_), width,
                                     weights_.data(), gradient_.data()});
        if (is_last) break;
        kernels().add_scaled(gradient_.data(), static_cast<float>(squares / previous), width,
                             step_.data());
    }
    // If squared weights overflow a float, their effects cannot be compared.
    const double lengths = kernels().squared_length(weights_.data(), width);
    return lengths > 0 && lengths <= std::numeric_limits<float>::max();
}

// Keeps the weights that move the node's rows most, at most one per row: the rows determine no more
// of them, and the others would make up most of the model.
void DirectionFinder::keep_strongest(const NodeRows& x, std::size_t n_rows) {
    const auto most =
        static_cast<std::size_t>(std::min(1 + params_.weights_per_row * static_cast<double>(n_rows),
                                          1 + static_cast<double>(x.n_columns())));
    kernels().scale_squares(weights_.data(), variances_.data(), x.width(), effects_.data());
    select(most, x.n_columns());
    strongest_ = 0;
    std::fill_n(kept_.data(), x.width(), 0.0f);
    for (const std::uint32_t j : columns_) {
        // Rounded as they are stored, so that training rows go to the same side as in a prediction.
        kept_[j] = from_half(to_half(weights_[j]));
        if (effects_[j] > effects_[strongest_]) strongest_ = j;
    }
    std::swap(weights_, kept_);
}

// The columns with the largest positive effects, the first of equal ones, without sorting: the
// upper bits of a positive float decide most comparisons.
void DirectionFinder::select(std::size_t most, std::size_t n_columns) {
    const auto bucket = [&](std::uint32_t j) {
        return std::bit_cast<std::uint32_t>(effects_[j]) >> ignored_bits;
    };
    // Most columns have none: they do not occur in the node.
    std::size_t n_strong = 0;
    strong_.resize(n_columns);
    for (std::uint32_t j = 0; j < n_columns; ++j) {
        strong_[n_strong] = j;
        n_strong += bucket(j) > 0;
    }
    columns_.assign(strong_.begin(), strong_.begin() + static_cast<std::ptrdiff_t>(n_strong));
    if (n_strong <= most) return;
    std::fill(counts_.begin(), counts_.end(), 0u);
    for (const std::uint32_t j : columns_) ++counts_[bucket(j)];
    std::size_t n_above = 0;
    std::uint32_t last = n_buckets - 1;  // the bucket of the weakest that is kept
    while (n_above + counts_[last] < most) n_above += counts_[last--];
    near_.clear();
    for (const std::uint32_t j : columns_)
        if (bucket(j) == last) near_.push_back(j);
    const auto stronger = [&](std::uint32_t a, std::uint32_t b) {
        return effects_[a] != effects_[b] ? effects_[a] > effects_[b] : a < b;
    };
    const std::size_t n_near = most - n_above;
    std::nth_element(near_.begin(), near_.begin() + static_cast<std::ptrdiff_t>(n_near - 1),
                     near_.end(), stronger);
    const std::uint32_t weakest = near_[n_near - 1];
    std::erase_if(columns_, [&](std::uint32_t j) {
        return bucket(j) < last || (bucket(j) == last && stronger(weakest, j));
    });
}

}  // namespace sketchforest
