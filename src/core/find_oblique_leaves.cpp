#include <vector>

#include "oblique.hpp"

namespace sketchforest {
namespace {

// A row of X written out in full.
class FullRow {
  public:
    explicit FullRow(const FloatRows& x) : x_(x), values_(x.is_sparse() ? x.n_features : 0) {}

    const float* fill(std::size_t row) {
        if (!x_.is_sparse()) return x_.values + row * x_.stride;
        for (auto at = x_.row_start[row]; at < x_.row_start[row + 1]; ++at)
            values_[x_.columns[at]] = x_.values[at];
        return values_.data();
    }
    void wipe(std::size_t row) {
        if (!x_.is_sparse()) return;
        for (auto at = x_.row_start[row]; at < x_.row_start[row + 1]; ++at)
            values_[x_.columns[at]] = 0;
    }

  private:
    const FloatRows& x_;
    std::vector<float> values_;
};

std::int32_t find_leaf(const ObliqueTrees& trees, std::int64_t first_node, const float* x) {
    std::int32_t at = 0;
    while (at >= 0) {
        const std::int64_t node = first_node + at;
        float sum = 0;
        for (auto entry = trees.direction_start[node]; entry < trees.direction_start[node + 1];
             ++entry)
            sum += x[trees.columns[entry]] * from_half(trees.weights[entry]);
        at = trees.nodes[node].child[!(sum <= trees.nodes[node].threshold)];
    }
    return -1 - at;
}

}  // namespace

void find_oblique_leaves(const ObliqueTrees& trees, const FloatRows& x, std::int32_t* leaves) {
    FullRow full(x);
    for (std::size_t row = 0; row < x.n_rows; ++row) {
        const float* values = full.fill(row);
        for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
            if (!trees.is_oblique[tree]) continue;
            const std::int64_t first = trees.node_start[tree];
            const bool has_one_leaf = trees.node_start[tree + 1] == first;
            leaves[row * trees.n_trees + tree] = has_one_leaf ? 0 : find_leaf(trees, first, values);
        }
        full.wipe(row);
    }
}

}  // namespace sketchforest
