#include <algorithm>
#include <cmath>

#include "forest.hpp"
#include "row_values.hpp"

namespace sketchforest {
namespace {

constexpr std::size_t group_size = 16;

// One tree and the rows that go down it.
template <bool wide, class Rows>
struct Descent {
    using Row = typename Rows::Row;

    const Node* nodes;
    const double* thresholds;  // where wide
    const Rows& rows;
    std::size_t n_rows;
    std::int32_t* leaves;  // of the rows, n_trees apart
    std::size_t n_trees;

    std::int32_t step(Row row, std::int32_t at) const {
        const Node& node = nodes[at];
        const auto value = rows.value(row, node.feature & ~missing_left_bit);
        bool right;
        if constexpr (wide)
            right = !(static_cast<double>(value) <= thresholds[at]);
        else
            right = !(value <= static_cast<decltype(value)>(node.threshold));
        right &= !(std::isnan(value) & (node.feature >= missing_left_bit));
        return node.child[right];
    }

    void arrive(std::size_t row, std::int32_t child) const { leaves[row * n_trees] = -1 - child; }

    // A group of rows goes down together, one step each in turn: their steps do not wait for each
    // other, where those of one row do. A row that has arrived gives its place to the next.
    void find_in_groups() const {
        struct Walker {
            Row row;
            std::size_t index;
            std::int32_t at;
        } walkers[group_size];
        std::size_t next = 0;
        const auto place_next = [&](Walker& walker) {
            walker = {rows.row(next), next, 0};
            ++next;
        };
        std::size_t n_walkers = std::min(group_size, n_rows);
        for (std::size_t i = 0; i < n_walkers; ++i) place_next(walkers[i]);
        while (n_walkers > 0) {
            for (std::size_t i = 0; i < n_walkers; ++i) {
                Walker& walker = walkers[i];
                walker.at = step(walker.row, walker.at);
                if (walker.at >= 0) continue;
                arrive(walker.index, walker.at);
                if (next < n_rows)
                    place_next(walker);
                else
                    walker = walkers[--n_walkers];  // which steps in the next round
            }
        }
    }

    // On sparse data trees are chains, and the next node is nearly always the one that follows in
    // memory. Said as a branch, this lets the processor go on before it knows.
    void find_in_chains() const {
        for (std::size_t i = 0; i < n_rows; ++i) {
            const Row row = rows.row(i);
            std::int32_t child = 0;
            while (child >= 0) {
                std::int32_t at = child;
                do child = step(row, at++);
                while (child == at);
            }
            arrive(i, child);
        }
    }

    // Whether a few rows mostly step to the node that follows.
    bool is_chain() const {
        std::size_t n_steps = 0, n_following = 0;
        for (std::size_t i = 0; i < std::min(group_size, n_rows); ++i) {
            for (std::int32_t at = 0; at >= 0; ++n_steps) {
                const std::int32_t child = step(rows.row(i), at);
                n_following += child == at + 1;
                at = child;
            }
        }
        return 10 * n_following > 9 * n_steps;
    }
};

// Tree by tree, so that the tree stays in the cache.
template <bool wide, class Rows>
void find(const Trees& trees, const Rows& rows, std::size_t n_rows, std::int32_t* leaves) {
    bool are_chains = false;
    std::size_t n_walked = 0;
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
        if (trees.is_oblique && trees.is_oblique[tree]) continue;
        const std::int64_t start = trees.node_start[tree];
        const double* thresholds = wide ? trees.wide_thresholds + start : nullptr;
        const Descent<wide, Rows> descent{trees.nodes + start, thresholds,   rows, n_rows,
                                          leaves + tree,       trees.n_trees};
        if (trees.node_start[tree + 1] == start) {  // one leaf
            for (std::size_t row = 0; row < n_rows; ++row) descent.arrive(row, -1);
            continue;
        }
        if (n_walked++ % group_size == 0) are_chains = descent.is_chain();
        are_chains ? descent.find_in_chains() : descent.find_in_groups();
    }
}

template <class Rows>
void find_any(const Trees& trees, const Rows& rows, std::size_t n_rows, std::int32_t* leaves) {
    (trees.wide_thresholds ? find<true, Rows> : find<false, Rows>)(trees, rows, n_rows, leaves);
}

// A few rows at a time are written out in full, and wiped again by what they touched: a block
// stays in the cache, and no row costs the number of features.
template <class T>
void find_in_full_rows(const Trees& trees, const SparseX<T>& x, std::int32_t* leaves) {
    constexpr std::size_t block_bytes = 1 << 19;
    const std::size_t width = x.n_features;
    // A group at least, even where that leaves the cache: a row alone waits at every step.
    const std::size_t block =
        std::min(std::max(block_bytes / (width * sizeof(T)), group_size), x.n_rows);
    std::vector<T> full(block * width, T{0});
    for (std::size_t first = 0; first < x.n_rows; first += block) {
        const std::size_t n = std::min(block, x.n_rows - first);
        const auto each_entry = [&](auto&& visit) {
            for (std::size_t i = 0; i < n; ++i)
                for (auto at = x.row_start[first + i]; at < x.row_start[first + i + 1]; ++at)
                    visit(full[i * width + x.columns[at]], x.values[at]);
        };
        each_entry([](T& value, T entry) { value += entry; });
        const ContiguousRows<T> rows{full.data(), static_cast<std::int64_t>(width)};
        find_any(trees, rows, n, leaves + first * trees.n_trees);
        each_entry([](T& value, T) { value = 0; });
    }
}

template <class T>
void find_in_hashed_rows(const Trees& trees, const SparseX<T>& x, std::int32_t* leaves) {
    constexpr std::size_t block = 4 * group_size;
    HashedRows<T> rows;
    for (std::size_t first = 0; first < x.n_rows; first += block) {
        const std::size_t last = std::min(first + block, x.n_rows);
        rows.fill(x, first, last);
        find_any(trees, rows, last - first, leaves + first * trees.n_trees);
    }
}

}  // namespace

template <class T>
void find_leaves(const Trees& trees, const DenseX<T>& x, std::int32_t* leaves) {
    if (x.column_stride == 1)
        find_any(trees, ContiguousRows<T>{x.values, x.row_stride}, x.n_rows, leaves);
    else
        find_any(trees, StridedRows<T>{x.values, x.row_stride, x.column_stride}, x.n_rows, leaves);
}

template <class T>
void find_leaves(const Trees& trees, const SparseX<T>& x, std::int32_t* leaves) {
    // A value of a row that is written out is found fastest, as long as a group of rows is small.
    constexpr std::size_t most_full_bytes = 1 << 23;
    if (group_size * x.n_features * sizeof(T) <= most_full_bytes)
        find_in_full_rows(trees, x, leaves);
    else
        find_in_hashed_rows(trees, x, leaves);
}

template void find_leaves(const Trees&, const DenseX<float>&, std::int32_t*);
template void find_leaves(const Trees&, const DenseX<double>&, std::int32_t*);
template void find_leaves(const Trees&, const SparseX<float>&, std::int32_t*);
template void find_leaves(const Trees&, const SparseX<double>&, std::int32_t*);

}  // namespace sketchforest
