#include "weighted_medians.hpp"

#include <algorithm>
#include <limits>
#include <vector>

namespace sketchforest {
namespace {

// Half of the weight is reached up to rounding: the median of ten rows of weight 0.1 lies between
// the fifth and the sixth.
constexpr double rounding = 1e-12;

struct WeighedValue {
    double value, weight;
};

double median(std::vector<WeighedValue>& values) {
    std::sort(values.begin(), values.end(),
              [](const WeighedValue& a, const WeighedValue& b) { return a.value < b.value; });
    double total = 0;
    for (const WeighedValue& each : values) total += each.weight;
    double reached = 0;
    for (std::size_t i = 0; i + 1 < values.size(); ++i) {
        reached += values[i].weight;
        if (2 * reached < total * (1 - rounding)) continue;
        const bool is_half = 2 * reached <= total * (1 + rounding);
        return is_half ? values[i].value / 2 + values[i + 1].value / 2 : values[i].value;
    }
    return values.empty() ? std::numeric_limits<double>::quiet_NaN() : values.back().value;
}

}  // namespace

void weighted_medians(const double* outputs, std::size_t n_outputs, const RowGroups& groups,
                      double* out) {
    std::vector<WeighedValue> values;
    for (std::size_t group = 0; group + 1 < groups.start.size(); ++group)
        for (std::size_t column = 0; column < n_outputs; ++column) {
            values.clear();
            for (std::int64_t i = groups.start[group]; i < groups.start[group + 1]; ++i)
                values.push_back(
                    {outputs[static_cast<std::size_t>(groups.rows[i]) * n_outputs + column],
                     groups.weights[i]});
            *out++ = median(values);
        }
}

}  // namespace sketchforest
