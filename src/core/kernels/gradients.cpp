// Gradients and second derivatives of losses at the scores of a row, and their sketch.
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

constexpr int lanes = 16;
using Floats = Lanes<float, lanes>::type;
using Ints = Lanes<std::int32_t, lanes>::type;

// exp(x) for x <= 0, to about one unit in the last place; 0 below -87, where floats are denormal.
inline Floats exponential(Floats x) {
    const Floats lowest = Floats{} - 87.0f;
    const Ints is_zero = x < lowest;
    x = is_zero ? lowest : x;
    // x = n ln 2 + r with |r| <= ln 2 / 2; adding 1.5 * 2^23 rounds.
    const Floats magic = Floats{} + 12582912.0f;
    const Floats n = (x * 1.44269504f + magic) - magic;
    const Floats r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
    Floats series = Floats{} + 1.9875691500e-4f;
    series = series * r + 1.3981999507e-3f;
    series = series * r + 8.3334519073e-3f;
    series = series * r + 4.1665795894e-2f;
    series = series * r + 1.6666665459e-1f;
    series = series * r + 5.0000001201e-1f;
    series = series * r * r + r + 1.0f;
    const Ints exponent = (__builtin_convertvector(n, Ints) + 127) << 23;
    Floats power;
    std::memcpy(&power, &exponent, sizeof power);
    return is_zero ? Floats{} : series * power;
}

// The last numbers of a row, with zeros where there are no more.
inline Floats load_some(const float* from, std::size_t n) {
    if (n == lanes) return load<float, lanes>(from);
    Floats found{};
    std::memcpy(&found, from, n * sizeof(float));
    return found;
}
inline void store_some(const Floats& numbers, float* to, std::size_t n) {
    if (n == lanes)
        std::memcpy(to, &numbers, sizeof numbers);
    else
        std::memcpy(to, &numbers, n * sizeof(float));
}

// One logarithm is taken of the product of this many numbers between 1 and 2.
constexpr std::size_t most_factors = 64;

inline double sum_of_logs(Floats products) {
    double total = 0;
    for (int lane = 0; lane < lanes; ++lane)
        total += __builtin_log(static_cast<double>(products[lane]));
    return total;
}

inline double lane_sum(Floats terms) {
    double total = 0;
    for (int lane = 0; lane < lanes; ++lane) total += static_cast<double>(terms[lane]);
    return total;
}

template <bool WantsLoss>
double absent_labels(const float* scores, std::size_t n, float* gradients, float* hessians) {
    Floats products = Floats{} + 1.0f, linear{};
    double loss = 0;
    std::size_t n_factors = 0;
    for (std::size_t at = 0; at < n; at += lanes) {
        const std::size_t size = smaller(lanes, n - at);
        const Floats score = load_some(scores + at, size);
        const Ints is_positive = score > Floats{};
        const Floats e = exponential(is_positive ? -score : score);  // exp(-|score|)
        const Floats p = (is_positive ? Floats{} + 1.0f : e) / (e + 1.0f);
        const Floats hessian = p * (1.0f - p);
        store_some(p, gradients + at, size);
        store_some(hessian, hessians + at, size);
        if constexpr (WantsLoss) {  // log(1 + exp(score))
            Floats factor = e + 1.0f;
            for (int lane = static_cast<int>(size); lane < lanes; ++lane) factor[lane] = 1;
            products *= factor;
            linear += is_positive ? score : Floats{};
            if (++n_factors == most_factors) {
                loss += sum_of_logs(products) + lane_sum(linear);
                products = Floats{} + 1.0f, linear = Floats{}, n_factors = 0;
            }
        }
    }
    return WantsLoss ? loss + sum_of_logs(products) + lane_sum(linear) : 0;
}

template <int L, int V>
void sketch(const float* g, std::size_t n, const float* p, std::size_t stride, float* z) {
    using Row = typename Lanes<float, L>::type;
    // Several sums at a time: a single one would wait for each addition.
    constexpr std::size_t n_sums = 4;
    for (std::size_t first = 0; first < stride; first += V * L) {
        Row sums[n_sums][V]{};
        std::size_t at = 0;
        for (; at + n_sums <= n; at += n_sums)
            for (std::size_t s = 0; s < n_sums; ++s)
                for (std::size_t v = 0; v < V; ++v)
                    sums[s][v] += g[at + s] * load<float, L>(p + (at + s) * stride + first + v * L);
        for (; at < n; ++at)
            for (std::size_t v = 0; v < V; ++v)
                sums[0][v] += g[at] * load<float, L>(p + at * stride + first + v * L);
        for (std::size_t v = 0; v < V; ++v) {
            const Row total = (sums[0][v] + sums[1][v]) + (sums[2][v] + sums[3][v]);
            std::memcpy(z + first + v * L, &total, sizeof total);
        }
    }
}

}  // namespace

double absent_label_gradients(const float* scores, std::size_t n, float* gradients, float* hessians,
                              bool wants_loss) {
    return wants_loss ? absent_labels<true>(scores, n, gradients, hessians)
                      : absent_labels<false>(scores, n, gradients, hessians);
}

double softmax_gradients(const float* scores, std::size_t n, float* gradients, float* hessians,
                         bool wants_loss) {
    float largest = scores[0];
    for (std::size_t at = 1; at < n; ++at) largest = scores[at] > largest ? scores[at] : largest;
    double total = 0;
    for (std::size_t at = 0; at < n; at += lanes) {
        const std::size_t size = smaller(lanes, n - at);
        Floats e = exponential(load_some(scores + at, size) - largest);
        for (int lane = static_cast<int>(size); lane < lanes; ++lane) e[lane] = 0;
        store_some(e, gradients + at, size);
        total += lane_sum(e);
    }
    // Of K classes, second derivatives count K / (K - 1) times: with two classes, whose scores
    // differ by twice the step, that is the step of one score.
    const float share = static_cast<float>(1 / total);
    const float factor = n > 1 ? static_cast<float>(n) / static_cast<float>(n - 1) : 1.0f;
    for (std::size_t at = 0; at < n; ++at) {
        const float p = gradients[at] * share;
        gradients[at] = p;
        hessians[at] = factor * p * (1.0f - p);
    }
    return wants_loss ? static_cast<double>(largest) + __builtin_log(total) : 0;
}

void sketch_gradients(const float* g, std::size_t n, const float* p, std::size_t stride, float* z) {
    if (stride == 4)
        sketch<4, 1>(g, n, p, stride, z);
    else if (stride % 32 == 0)
        sketch<8, 4>(g, n, p, stride, z);
    else
        sketch<8, 1>(g, n, p, stride, z);
}

}  // namespace sketchforest::LEVEL
