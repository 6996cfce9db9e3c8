// One cut of each of several features: their bounds, and the sums of the rows on one side.
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

// A row is read once for all features of a group, whose sums stay in registers. Rows that do not
// join are added as zero, since which rows join is hard to predict.
template <class T, int L>
void sum_cuts(const CutSums& job) {
    constexpr int lanes = table_lanes;
    using Codes = typename Lanes<std::uint32_t, lanes>::type;
    using Longs = typename Lanes<std::int64_t, lanes>::type;
    using Bits = typename Lanes<std::int64_t, L>::type;
    const std::size_t stride = job.node.stride;
    const T* z = static_cast<const T*>(job.node.z);
    for (std::size_t group = 0; group < job.table_stride; group += lanes) {
        const Codes cuts = load<std::uint32_t, lanes>(job.cuts + group);
        for (std::size_t at = 0; at < stride; at += L) {
            Doubles<L> sums[lanes]{};
            Doubles<lanes> weights{}, counts{};
            for (std::size_t i = 0; i < job.n_rows; ++i) {
                const std::uint32_t row = job.rows[i];
                const Codes codes =
                    load<std::uint32_t, lanes>(job.table + i * job.table_stride + group);
                const Longs joins = __builtin_convertvector(codes <= cuts, Longs);
                const double weight = job.node.weights[row];
                const Doubles<L> outputs = weight * widen<T, L>(row_at(z, row, stride) + at);
                for (int f = 0; f < lanes; ++f) {
                    if constexpr (L == 1)
                        sums[f] += joins[f] ? outputs : 0.0;
                    else
                        sums[f] += (Doubles<L>)((Bits)outputs & joins[f]);
                }
                if (at == 0) {
                    weights += joins ? Doubles<lanes>{} + weight : Doubles<lanes>{};
                    counts -= __builtin_convertvector(joins, Doubles<lanes>);
                }
            }
            for (int f = 0; f < lanes; ++f) {
                double* to = job.sums + (group + f) * stride + at;
                const Doubles<L> sum = widen<double, L>(to) + sums[f];
                std::memcpy(to, &sum, sizeof sum);
                if (at > 0) continue;
                job.weights[group + f] += weights[f];
                job.counts[group + f] += counts[f];
            }
        }
    }
}
template <class T>
void sum_cuts_any(const CutSums& job) {
    if (job.node.stride == 1)
        sum_cuts<T, 1>(job);
    else if (job.node.stride == 4)
        sum_cuts<T, 4>(job);
    else
        sum_cuts<T, 8>(job);
}

}  // namespace

void sum_cuts_float(const CutSums& job) {
    sum_cuts_any<float>(job);
}
void sum_cuts_double(const CutSums& job) {
    sum_cuts_any<double>(job);
}

void bound_codes(const std::uint32_t* table, std::size_t n_rows, std::size_t table_stride,
                 std::uint32_t* lowest, std::uint32_t* highest) {
    constexpr int lanes = table_lanes;
    using Codes = typename Lanes<std::uint32_t, lanes>::type;
    for (std::size_t group = 0; group < table_stride; group += lanes) {
        Codes low = load<std::uint32_t, lanes>(lowest + group);
        Codes high = load<std::uint32_t, lanes>(highest + group);
        for (std::size_t i = 0; i < n_rows; ++i) {
            const Codes codes = load<std::uint32_t, lanes>(table + i * table_stride + group);
            low = codes < low ? codes : low;
            high = codes > high ? codes : high;
        }
        std::memcpy(lowest + group, &low, sizeof low);
        std::memcpy(highest + group, &high, sizeof high);
    }
}

}  // namespace sketchforest::LEVEL
