#include <algorithm>
#include <cmath>

#include "forest.hpp"

namespace sketchforest {
namespace {

constexpr std::size_t group_size = 32;

// A group of rows goes down a tree together, one step each in turn: their steps do not wait for
// each other, where those of one row do. Tree by tree, so that the tree stays in the cache.
template <bool wide, class T>
void find(const Trees& trees, const T* x, std::int64_t row_stride, std::int64_t column_stride,
          std::size_t n_rows, std::int32_t* leaves) {
    std::int32_t at[group_size];
    std::uint32_t active[group_size];
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
        const std::int64_t start = trees.node_start[tree];
        const Node* nodes = trees.nodes + start;
        const double* thresholds = wide ? trees.wide_thresholds + start : nullptr;
        const bool is_leaf = trees.node_start[tree + 1] == start;
        for (std::size_t first = 0; first < n_rows; first += group_size) {
            const std::size_t n = std::min(group_size, n_rows - first);
            const T* group = x + static_cast<std::int64_t>(first) * row_stride;
            for (std::size_t i = 0; i < n; ++i) {
                at[i] = is_leaf ? -1 : 0;
                active[i] = static_cast<std::uint32_t>(i);
            }
            std::size_t n_active = is_leaf ? 0 : n;
            while (n_active > 0) {
                std::size_t n_left = 0;
                for (std::size_t j = 0; j < n_active; ++j) {
                    const std::uint32_t i = active[j];
                    const Node& node = nodes[at[i]];
                    const T value =
                        group[i * row_stride + (node.feature & ~missing_left_bit) * column_stride];
                    bool right;
                    if constexpr (wide)
                        right = !(static_cast<double>(value) <= thresholds[at[i]]);
                    else
                        right = !(value <= static_cast<T>(node.threshold));
                    right &= !(std::isnan(value) & (node.feature >= missing_left_bit));
                    at[i] = node.child[right];
                    active[n_left] = i;
                    n_left += at[i] >= 0;
                }
                n_active = n_left;
            }
            for (std::size_t i = 0; i < n; ++i)
                leaves[(first + i) * trees.n_trees + tree] = -1 - at[i];
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
    const std::size_t width = x.n_features;
    // Half a group at least, even where that leaves the cache: a row alone waits at every step.
    const std::size_t block =
        std::min(std::max(block_bytes / (width * sizeof(T)), group_size / 2), x.n_rows);
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
