#include <algorithm>
#include <cmath>

#include "forest.hpp"

namespace sketchforest {
namespace {

// Row by row within a tree, so that the tree stays in the cache.
template <bool wide, class T>
void find(const Trees& trees, const T* x, std::int64_t row_stride, std::int64_t column_stride,
          std::size_t n_rows, std::int32_t* leaves) {
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
        const std::int64_t start = trees.node_start[tree];
        const Node* nodes = trees.nodes + start;
        const double* thresholds = wide ? trees.wide_thresholds + start : nullptr;
        const bool is_leaf = trees.node_start[tree + 1] == start;
        for (std::size_t row = 0; row < n_rows; ++row) {
            const T* values = x + static_cast<std::int64_t>(row) * row_stride;
            std::int32_t at = is_leaf ? -1 : 0;
            while (at >= 0) {
                const Node& node = nodes[at];
                const T value = values[(node.feature & ~missing_left_bit) * column_stride];
                bool left;
                if constexpr (wide)
                    left = static_cast<double>(value) <= thresholds[at];
                else
                    left = value <= static_cast<T>(node.threshold);
                if (std::isnan(value)) left = node.feature & missing_left_bit;
                at = node.child[!left];
            }
            leaves[row * trees.n_trees + tree] = -1 - at;
        }
    }
}

template <class T>
void find_any(const Trees& trees, const T* x, std::int64_t row_stride, std::int64_t column_stride,
              std::size_t n_rows, std::int32_t* leaves) {
    if (trees.wide_thresholds)
        find<true>(trees, x, row_stride, column_stride, n_rows, leaves);
    else
        find<false>(trees, x, row_stride, column_stride, n_rows, leaves);
}

}  // namespace

template <class T>
void find_leaves(const Trees& trees, const DenseX<T>& x, std::int32_t* leaves) {
    find_any(trees, x.values, x.row_stride, x.column_stride, x.n_rows, leaves);
}

// A few rows at a time are written out in full, and wiped again by what they touched: a block
// stays in the cache, and no row costs the number of features.
template <class T>
void find_leaves(const Trees& trees, const SparseX<T>& x, std::int32_t* leaves) {
    constexpr std::size_t block_bytes = 1 << 19;
    const std::size_t width = std::max<std::size_t>(x.n_features, 1);
    const std::size_t block = std::clamp<std::size_t>(block_bytes / (width * sizeof(T)), 1,
                                                      std::max<std::size_t>(x.n_rows, 1));
    std::vector<T> full(block * width, T{0});
    for (std::size_t first = 0; first < x.n_rows; first += block) {
        const std::size_t n = std::min(block, x.n_rows - first);
        const auto each_entry = [&](auto&& visit) {
            for (std::size_t i = 0; i < n; ++i)
                for (auto at = x.row_start[first + i]; at < x.row_start[first + i + 1]; ++at)
                    visit(full[i * width + x.columns[at]], x.values[at]);
        };
        each_entry([](T& cell, T value) { cell += value; });
        find_any(trees, full.data(), static_cast<std::int64_t>(width), 1, n,
                 leaves + first * trees.n_trees);
        each_entry([](T& cell, T) { cell = 0; });
    }
}

template void find_leaves(const Trees&, const DenseX<float>&, std::int32_t*);
template void find_leaves(const Trees&, const DenseX<double>&, std::int32_t*);
template void find_leaves(const Trees&, const SparseX<float>&, std::int32_t*);
template void find_leaves(const Trees&, const SparseX<double>&, std::int32_t*);

}  // namespace sketchforest
