// Products with rows of outputs, and with dense rows of X.
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

constexpr int L = 8;
using Floats = Lanes<float, L>::type;

inline void store(float* to, Floats lanes) {
    std::memcpy(to, &lanes, sizeof lanes);
}

inline float sum_of(Floats lanes) {
    return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
           ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

inline float dot(const float* a, const float* b, std::size_t n) {
    Floats sums[2]{};
    std::size_t at = 0;
    for (; at + 2 * L <= n; at += 2 * L) {
        sums[0] += load<float, L>(a + at) * load<float, L>(b + at);
        sums[1] += load<float, L>(a + at + L) * load<float, L>(b + at + L);
    }
    if (at < n) sums[0] += load<float, L>(a + at) * load<float, L>(b + at);
    return sum_of(sums[0] + sums[1]);
}

inline void add_times(float factor, const float* from, std::size_t n, float* to) {
    for (std::size_t at = 0; at < n; at += L)
        store(to + at, load<float, L>(to + at) + factor * load<float, L>(from + at));
}

}  // namespace

double squared_length(const float* v, std::size_t n) {
    Doubles<L> sums{};
    for (std::size_t at = 0; at < n; at += L) {
        const Doubles<L> values = widen<float, L>(v + at);
        sums += values * values;
    }
    return sum(sums);
}

double vary(const float* sums, double weight, double rounding, std::size_t n, float* squares) {
    const double share = 1 / weight;
    Doubles<L> total{};
    for (std::size_t at = 0; at < n; at += L) {
        const Doubles<L> sum_of_values = widen<float, L>(sums + at);
        const Doubles<L> sum_of_squares = widen<float, L>(squares + at);
        Doubles<L> left = sum_of_squares - sum_of_values * sum_of_values * share;
        left = left > rounding * sum_of_squares ? left : Doubles<L>{};
        total += left;
        store(squares + at, __builtin_convertvector(left, Floats));
    }
    return sum(total);
}

void scale_squares(const float* v, const float* factors, std::size_t n, float* out) {
    for (std::size_t at = 0; at < n; at += L) {
        const Floats values = load<float, L>(v + at);
        store(out + at, values * values * load<float, L>(factors + at));
    }
}

double descend(const GradientStep& job) {
    const float length = job.length, mean = job.mean, penalty = job.penalty;
    Doubles<L> sums{};
    for (std::size_t at = 0; at < job.n; at += L) {
        const Floats step = load<float, L>(job.step + at);
        store(job.weights + at, load<float, L>(job.weights + at) + length * step);
        if (!job.back) continue;
        const Floats moved = load<float, L>(job.back + at) - mean * load<float, L>(job.sums + at);
        const Floats gradient =
            load<float, L>(job.gradient + at) - length * (moved + penalty * step);
        store(job.gradient + at, gradient);
        const Doubles<L> wide = __builtin_convertvector(gradient, Doubles<L>);
        sums += wide * wide;
    }
    return sum(sums);
}

void add_scaled(const float* v, float factor, std::size_t n, float* step) {
    for (std::size_t at = 0; at < n; at += L)
        store(step + at, load<float, L>(v + at) + factor * load<float, L>(step + at));
}

double centre_rows(const CentreRows& job) {
    double squares = 0;
    for (std::size_t i = 0; i < job.n_rows; ++i) {
        const float* row = row_at(job.z, job.rows[i], job.stride);
        float* to = job.out + i * job.stride;
        Floats sums{};
        for (std::size_t at = 0; at < job.stride; at += L) {
            const Floats centred = load<float, L>(row + at) - load<float, L>(job.mean + at);
            store(to + at, centred);
            sums += centred * centred;
        }
        squares += static_cast<double>(job.weights[i]) * sum_of(sums);
    }
    return squares;
}

void power_step(const float* z, const float* weights, std::size_t n_rows, std::size_t stride,
                const float* direction, float* out) {
    for (std::size_t at = 0; at < stride; at += L) store(out + at, Floats{});
    for (std::size_t i = 0; i < n_rows; ++i) {
        const float* row = z + i * stride;
        add_times(weights[i] * dot(row, direction, stride), row, stride, out);
    }
}

void multiply_rows(const float* z, std::size_t n_rows, std::size_t stride, const float* direction,
                   float* out) {
    for (std::size_t i = 0; i < n_rows; ++i) out[i] = dot(z + i * stride, direction, stride);
}

void dense_moments(const DenseRows& x, const float* weights, float* sums, float* squares) {
    for (std::size_t i = 0; i < x.n_rows; ++i) {
        const float* row = row_at(x.values, static_cast<std::uint32_t>(x.rows[i]), x.stride);
        for (std::size_t at = 0; at < x.stride; at += L) {
            const Floats values = load<float, L>(row + at);
            const Floats weighted = weights[i] * values;
            store(sums + at, load<float, L>(sums + at) + weighted);
            store(squares + at, load<float, L>(squares + at) + weighted * values);
        }
    }
}

void dense_transposed_times(const DenseRows& x, const float* v, float* out) {
    for (std::size_t i = 0; i < x.n_rows; ++i)
        add_times(v[i], row_at(x.values, static_cast<std::uint32_t>(x.rows[i]), x.stride), x.stride,
                  out);
}

void dense_times(const DenseRows& x, const float* w, float* out) {
    for (std::size_t i = 0; i < x.n_rows; ++i)
        out[i] =
            dot(row_at(x.values, static_cast<std::uint32_t>(x.rows[i]), x.stride), w, x.stride);
}

void dense_times_and_back(const DenseRows& x, const float* w, const float* weights, float* out,
                          float* back) {
    for (std::size_t i = 0; i < x.n_rows; ++i) {
        const float* row = row_at(x.values, static_cast<std::uint32_t>(x.rows[i]), x.stride);
        out[i] = dot(row, w, x.stride);
        add_times(weights[i] * out[i], row, x.stride, back);
    }
}

}  // namespace sketchforest::LEVEL
