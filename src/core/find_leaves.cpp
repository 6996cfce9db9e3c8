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

    struct Walker {
        Row row;
        std::size_t index;
        std::int32_t at;
    };

    // A group of rows descends together, one step each in turn: steps of different rows do not wait
    // for each other. A row that arrives at a leaf makes room for the next one.
    template <class Move>
    void for_groups(Move move) const {
        Walker walkers[group_size];
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
                move(walker);
                if (walker.at >= 0) continue;
                arrive(walker.index, walker.at);
                if (next < n_rows)
                    place_next(walker);
                else
                    walker = walkers[--n_walkers];  // which moves in the next round
            }
        }
    }

    void find_in_groups() const {
        for_groups([&](Walker& walker) { walker.at = step(walker.row, walker.at); });
    }

    // On sparse data, trees are chains, and the next node is nearly always the one that follows in
    // memory. A branch lets the processor speculate on that.
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

    // The same with marks of absent features: a row passes a stretch of the chain whose features it
    // lacks at one byte per node. At a node whose feature it has, it waits for memory while other
    // rows move.
    void find_in_chains_of_zeros(const std::uint32_t* marked) const {
        for_groups([&](Walker& walker) {
            const Row row = walker.row;
            const std::uint32_t* next = marked + walker.at;
            if (row.has(*next)) {
                walker.at = step(row, walker.at);
                __builtin_prefetch(marked + std::max(walker.at, 0));
                return;
            }
            ++next;
            while (!(row.has(next[0]) | row.has(next[1]) | row.has(next[2]) | row.has(next[3])))
                next += 4;
            while (!row.has(*next)) ++next;
            walker.at = static_cast<std::int32_t>(next - marked);
            __builtin_prefetch(nodes + walker.at);
        });
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

// Calls use(descent, tree) tree by tree, so that the tree stays in the cache.
template <bool wide, class Rows, class Use>
void each_tree(const Trees& trees, const Rows& rows, std::size_t n_rows, std::int32_t* leaves,
               Use use) {
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
        if (trees.is_oblique && trees.is_oblique[tree]) continue;
        const std::int64_t start = trees.node_start[tree];
        const double* thresholds = wide ? trees.wide_thresholds + start : nullptr;
        const Descent<wide, Rows> descent{trees.nodes + start, thresholds,   rows, n_rows,
                                          leaves + tree,       trees.n_trees};
        if (trees.node_start[tree + 1] > start)
            use(descent, tree);
        else  // one leaf
            for (std::size_t row = 0; row < n_rows; ++row) descent.arrive(row, -1);
    }
}

template <bool wide, class Rows>
void find(const Trees& trees, const Rows& rows, std::size_t n_rows, std::int32_t* leaves) {
    bool are_chains = false;
    std::size_t n_walked = 0;
    each_tree<wide>(trees, rows, n_rows, leaves, [&](const auto& descent, std::size_t) {
        if (n_walked++ % group_size == 0) are_chains = descent.is_chain();
        are_chains ? descent.find_in_chains() : descent.find_in_groups();
    });
}

// A few rows at a time are expanded, and only their entries are cleared afterwards: the block stays
// in the cache, and the time per row does not depend on the number of features.
template <bool wide, class T>
void find_in_full_rows(const Trees& trees, const SparseX<T>& x, std::int32_t* leaves) {
    constexpr std::size_t block_bytes = 1 << 19;
    const std::size_t width = x.n_features;
    // At least one group, even if it exceeds the cache: a single row would wait at every step.
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
        find<wide>(trees, rows, n, leaves + first * trees.n_trees);
        each_entry([](T& value, T) { value = 0; });
    }
}

template <bool wide, class T>
void find_in_hashed_rows(const Trees& trees, const SparseX<T>& x, std::int32_t* leaves) {
    constexpr std::size_t block = 4 * group_size;
    HashedRows<T> rows;
    for (std::size_t first = 0; first < x.n_rows; first += block) {
        const std::size_t last = std::min(first + block, x.n_rows);
        rows.fill(x, first, last);
        find<wide>(trees, rows, last - first, leaves + first * trees.n_trees);
    }
}

template <bool wide, class T>
void find_in_marked_rows(const Trees& trees, const SparseX<T>& x, std::int32_t* leaves) {
    constexpr std::size_t block_bytes = 1 << 19;
    const std::size_t block =
        std::min(std::max(block_bytes / (x.n_features + 1), group_size), x.n_rows);
    MarkedRows<T> rows(x, block);
    for (std::size_t first = 0; first < x.n_rows; first += block) {
        const std::size_t n = std::min(block, x.n_rows - first);
        rows.fill(first, first + n);
        each_tree<wide>(
            trees, rows, n, leaves + first * trees.n_trees,
            [&](const auto& descent, std::size_t tree) {
                descent.find_in_chains_of_zeros(trees.zero_chains + trees.node_start[tree]);
            });
    }
}

template <bool wide, class T>
void find_in_sparse_rows(const Trees& trees, const SparseX<T>& x, std::int32_t* leaves) {
    // Reading expanded rows is fastest, as long as a group of them is small.
    constexpr std::size_t most_full_bytes = 1 << 23;
    // Most marks say that a feature is absent: faster than a hash table even far outside the cache.
    constexpr std::size_t most_marked_bytes = 1 << 26;
    // Marks pay off if rows lack most features and have few enough entries to number.
    const auto n_entries = static_cast<std::size_t>(x.row_start[x.n_rows] - x.row_start[0]);
    const bool is_marked = trees.zero_chains && n_entries <= 128 * x.n_rows &&
                           8 * n_entries <= x.n_rows * x.n_features;
    if (is_marked && group_size * x.n_features <= most_marked_bytes)
        find_in_marked_rows<wide>(trees, x, leaves);
    else if (group_size * x.n_features * sizeof(T) > most_full_bytes)
        find_in_hashed_rows<wide>(trees, x, leaves);
    else
        find_in_full_rows<wide>(trees, x, leaves);
}

// Where a zero goes.
bool zero_goes_right(const Trees& trees, std::int64_t node) {
    return trees.wide_thresholds ? trees.wide_thresholds[node] < 0
                                 : trees.nodes[node].threshold < 0;
}

// Whether a row of zeros mostly steps to the node that follows.
bool are_chains(const Trees& trees) {
    std::size_t n_steps = 0, n_following = 0;
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
        if (trees.is_oblique && trees.is_oblique[tree]) continue;
        const std::int64_t start = trees.node_start[tree];
        std::int32_t at = trees.node_start[tree + 1] > start ? 0 : -1;
        for (; at >= 0; ++n_steps) {
            const bool right = zero_goes_right(trees, start + at);
            const std::int32_t child = trees.nodes[start + at].child[right];
            n_following += child == at + 1;
            at = child;
        }
    }
    return 10 * n_following > 9 * n_steps;
}

}  // namespace

std::vector<std::uint32_t> find_zero_chains(const Trees& trees) {
    std::vector<std::uint32_t> marked;
    if (!are_chains(trees)) return marked;
    const std::int64_t n_nodes = trees.node_start[trees.n_trees];
    constexpr std::size_t looked_at_past_the_last = 4;
    marked.resize(static_cast<std::size_t>(n_nodes) + looked_at_past_the_last);
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree) {
        const std::int64_t start = trees.node_start[tree];
        for (std::int64_t at = start; at < trees.node_start[tree + 1]; ++at) {
            const Node& node = trees.nodes[at];
            if (node.child[zero_goes_right(trees, at)] == at - start + 1)
                marked[at] = (node.feature & ~missing_left_bit) + 1;
        }
    }
    return marked;
}

template <class T>
void find_leaves(const Trees& trees, const DenseX<T>& x, std::int32_t* leaves) {
    const auto find_in = [&](const auto& rows) {
        using Rows = std::decay_t<decltype(rows)>;
        (trees.wide_thresholds ? find<true, Rows> : find<false, Rows>)(trees, rows, x.n_rows,
                                                                       leaves);
    };
    if (x.column_stride == 1)
        find_in(ContiguousRows<T>{x.values, x.row_stride});
    else
        find_in(StridedRows<T>{x.values, x.row_stride, x.column_stride});
}

template <class T>
void find_leaves(const Trees& trees, const SparseX<T>& x, std::int32_t* leaves) {
    (trees.wide_thresholds ? find_in_sparse_rows<true, T> : find_in_sparse_rows<false, T>)(trees, x,
                                                                                           leaves);
}

template void find_leaves(const Trees&, const DenseX<float>&, std::int32_t*);
template void find_leaves(const Trees&, const DenseX<double>&, std::int32_t*);
template void find_leaves(const Trees&, const SparseX<float>&, std::int32_t*);
template void find_leaves(const Trees&, const SparseX<double>&, std::int32_t*);

}  // namespace sketchforest
