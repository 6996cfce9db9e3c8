// Z = Y P, for sparse rows of Y.
#include "kernels/lanes.hpp"
#include "kernels/table.hpp"

namespace sketchforest::LEVEL {
namespace {

template <int L, int V>
void project_rows(const Projection& job) {
    using Floats = typename Lanes<float, L>::type;
    const std::size_t stride = job.stride;
    for (std::size_t first = 0; first < stride; first += V * L) {
        const std::size_t n = (stride - first) / L < V ? (stride - first) / L : V;
        for (std::size_t i = 0; i < job.n_rows; ++i) {
            const std::int64_t row = job.rows[i];
            Floats sums[V]{};
            for (std::int64_t at = job.row_start[row]; at < job.row_start[row + 1]; ++at) {
                const float* p = job.p + job.columns[at] * stride + first;
                const float value = job.values ? job.values[at] : 1.0f;
                if (n == V)
                    for (std::size_t v = 0; v < V; ++v)
                        sums[v] += value * load<float, L>(p + v * L);
                else
                    for (std::size_t v = 0; v < n; ++v)
                        sums[v] += value * load<float, L>(p + v * L);
            }
            std::memcpy(job.z + i * stride + first, sums, n * sizeof(Floats));
        }
    }
}

}  // namespace

void project(const Projection& job) {
    switch (job.stride) {
        case 1:
            return project_rows<1, 1>(job);
        case 4:
            return project_rows<4, 1>(job);
        case 8:
            return project_rows<8, 1>(job);
        case 16:
            return project_rows<8, 2>(job);
        default:
            return project_rows<8, 4>(job);
    }
}

}  // namespace sketchforest::LEVEL
