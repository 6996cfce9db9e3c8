#include "direction.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "kernels.hpp"

namespace sketchforest {
namespace {

bool make_unit(float* v, std::size_t n) {
    const double squares = kernels().squared_length(v, n);
    if (!(squares > 1e-30)) return false;
    const auto scale = static_cast<float>(1 / std::sqrt(squares));
    for (std::size_t i = 0; i < n; ++i) v[i] *= scale;
    return true;
}

float centre(float* v, const CentredOutputs& outputs) {
    double sum = 0;
    for (std::size_t i = 0; i < outputs.n_rows; ++i)
        sum += static_cast<double>(outputs.weights[i]) * v[i];
    const auto mean = static_cast<float>(sum / outputs.weight);
    for (std::size_t i = 0; i < outputs.n_rows; ++i) v[i] -= mean;
    return mean;
}

}  // namespace

DirectionFinder::DirectionFinder(const ObliqueParams& params, std::size_t n_rows,
                                 std::size_t n_features, std::size_t stride)
    : params_(params), leading_(stride), next_(stride), projected_(n_rows) {
    const std::size_t n_columns = (n_features + 7) / 8 * 8;
    for (auto* columns : {&sums_, &squares_, &weights_, &kept_, &gradient_, &step_, &back_})
        columns->resize(n_columns);
    for (auto* rows : {&target_, &residual_, &moved_, &scaled_}) rows->resize(n_rows);
}

bool DirectionFinder::open(const NodeRows& x, const CentredOutputs& outputs) {
    x.moments(outputs.weights, sums_.data(), squares_.data());
    double lengths = 0;
    for (std::size_t j = 0; j < x.n_columns(); ++j)
        lengths += squares_[j] - static_cast<double>(sums_[j]) * sums_[j] / outputs.weight;
    if (!(lengths > 0)) return false;
    penalty_ = params_.ridge * lengths / outputs.weight;
    return true;
}

// Power steps find the leading direction from a random start; few of them leave trees different.
bool DirectionFinder::start(const CentredOutputs& outputs, Stream& stream) {
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
    std::copy_n(direction, leading_.size(), leading_.begin());
    return make_unit(leading_.data(), leading_.size());
}

bool DirectionFinder::find(const NodeRows& x, const CentredOutputs& outputs) {
    kernels().multiply_rows(outputs.z, outputs.n_rows, outputs.stride, leading_.data(),
                            target_.data());
    found_leading_ = leading_;
    if (!fit_ridge(x, outputs)) return false;
    for (std::size_t i = 0; i < outputs.n_rows; ++i) projected_[i] = target_[i] - residual_[i];
    return true;
}

void DirectionFinder::keep(std::size_t n_columns) {
    std::copy_n(weights_.data(), n_columns, kept_.data());
    kept_leading_ = found_leading_;
}

bool DirectionFinder::finish(const NodeRows& x, const CentredOutputs& outputs) {
    std::swap(weights_, kept_);
    keep_strongest(x.n_columns(), outputs);
    if (columns_.empty()) return false;
    x.project(columns_, weights_.data(), projected_.data());
    return true;
}

// Minimises the weighted sum of (target - x . w - constant)^2 + penalty |w|^2. The columns are
// centred without being written: their sums are known.
bool DirectionFinder::fit_ridge(const NodeRows& x, const CentredOutputs& outputs) {
    const std::size_t n = outputs.n_rows, width = x.width();
    std::fill_n(weights_.data(), width, 0.0f);
    for (std::size_t i = 0; i < n; ++i) {
        residual_[i] = target_[i];
        scaled_[i] = outputs.weights[i] * target_[i];
    }
    x.transposed_times(scaled_.data(), gradient_.data());
    std::copy_n(gradient_.data(), width, step_.data());
    double squares = kernels().squared_length(gradient_.data(), width);
    for (std::uint32_t step = 0; step < params_.n_steps && squares > 0; ++step) {
        const bool is_last = step + 1 == params_.n_steps;
        if (is_last)
            x.times(step_.data(), moved_.data());
        else
            x.times_and_back(step_.data(), outputs.weights, moved_.data(), back_.data());
        const float mean = centre(moved_.data(), outputs);
        double curvature = penalty_ * kernels().squared_length(step_.data(), width);
        for (std::size_t i = 0; i < n; ++i)
            curvature += static_cast<double>(outputs.weights[i]) * moved_[i] * moved_[i];
        if (!(curvature > 0)) break;
        const auto length = static_cast<float>(squares / curvature);
        for (std::size_t i = 0; i < n; ++i) residual_[i] -= length * moved_[i];
        const double previous = squares;
        squares = kernels().descend({step_.data(), is_last ? nullptr : back_.data(), sums_.data(),
                                     length, mean, static_cast<float>(penalty_), width,
                                     weights_.data(), gradient_.data()});
        if (is_last) break;
        kernels().add_scaled(gradient_.data(), static_cast<float>(squares / previous), width,
                             step_.data());
    }
    return kernels().squared_length(weights_.data(), width) > 0;
}

// Of a node's weights, those that move its rows most, and no more of them than it has rows: a
// direction is known no better than that, and the others would be most of the model.
void DirectionFinder::keep_strongest(std::size_t n_columns, const CentredOutputs& outputs) {
    const auto effect = [&](std::uint32_t j) {
        const double variance =
            squares_[j] - static_cast<double>(sums_[j]) * sums_[j] / outputs.weight;
        // A column that is constant but for rounding has no effect.
        if (variance <= 1e-6 * squares_[j]) return 0.0;
        return static_cast<double>(weights_[j]) * weights_[j] * variance;
    };
    columns_.clear();
    double largest = 0;
    for (std::uint32_t j = 0; j < n_columns; ++j) {
        gradient_[j] = static_cast<float>(effect(j));
        if (gradient_[j] > 0) columns_.push_back(j);
        if (gradient_[j] > largest) largest = gradient_[j], strongest_ = j;
    }
    const auto most =
        static_cast<std::size_t>(1 + params_.weights_per_row * static_cast<double>(outputs.n_rows));
    if (columns_.size() > most) {
        const auto stronger = [&](std::uint32_t a, std::uint32_t b) {
            return gradient_[a] != gradient_[b] ? gradient_[a] > gradient_[b] : a < b;
        };
        std::nth_element(columns_.begin(), columns_.begin() + static_cast<std::ptrdiff_t>(most),
                         columns_.end(), stronger);
        columns_.resize(most);
        std::sort(columns_.begin(), columns_.end());
    }
    // Rounded as they are stored, so that training rows fall where a prediction has them.
    std::size_t kept = 0;
    for (std::size_t j = 0; j < n_columns; ++j) {
        const bool is_kept = kept < columns_.size() && columns_[kept] == j;
        weights_[j] = is_kept ? from_half(to_half(weights_[j])) : 0.0f;
        kept += is_kept;
    }
}

}  // namespace sketchforest
