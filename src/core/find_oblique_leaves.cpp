#include <algorithm>
#include <vector>

#include "oblique.hpp"

namespace sketchforest {
namespace {

// Some rows of X at a time, written out in full.
class FullRows {
  public:
    explicit FullRows(const FloatRows& x)
        : x_(x),
          block_(std::clamp<std::size_t>(most_values / std::max<std::size_t>(x.n_features, 1), 1,
                                         most_rows)) {
        if (x.is_sparse()) values_.resize(std::min(block_, x.n_rows) * x.n_features);
    }

    std::size_t block_size() const { return block_; }

    void fill(std::size_t first, std::size_t last) {
        first_ = first;
        each_entry(first, last, [](float& cell, float value) { cell = value; });
    }
    void wipe(std::size_t first, std::size_t last) {
        each_entry(first, last, [](float& cell, float) { cell = 0; });
    }
    const float* row(std::size_t row) const {
        return x_.is_sparse() ? values_.data() + (row - first_) * x_.n_features
                              : x_.values + row * x_.stride;
    }

  private:
    // What is written out stays in the cache beside a tree.
    static constexpr std::size_t most_values = 1 << 17, most_rows = 256;

    template <class Visit>
    void each_entry(std::size_t first, std::size_t last, Visit visit) {
        if (!x_.is_sparse()) return;
        for (std::size_t row = first; row < last; ++row)
            for (auto at = x_.row_start[row]; at < x_.row_start[row + 1]; ++at)
                visit(values_[(row - first) * x_.n_features + x_.columns[at]], x_.values[at]);
    }

    const FloatRows& x_;
    std::size_t block_;
    std::size_t first_ = 0;
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

// Tree by tree, so that the directions of a tree are fetched once for a block of rows.
void find_oblique_leaves(const ObliqueTrees& trees, const FloatRows& x, std::int32_t* leaves) {
    FullRows full(x);
    for (std::size_t first = 0; first < x.n_rows; first += full.block_size()) {
        const std::size_t last = std::min(first + full.block_size(), x.n_rows);
        full.fill(first, last);
        for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
            if (!trees.is_oblique[tree]) continue;
            const std::int64_t start = trees.node_start[tree];
            const bool has_one_leaf = trees.node_start[tree + 1] == start;
            for (std::size_t row = first; row < last; ++row)
                leaves[row * trees.n_trees + tree] =
                    has_one_leaf ? 0 : find_leaf(trees, start, full.row(row));
        }
        full.wipe(first, last);
    }
}

}  // namespace sketchforest
