#include <algorithm>
#include <numeric>
#include <vector>

#include "oblique.hpp"

namespace sketchforest {
namespace {

// Rows that go down one tree. Those at a node are parted together as long as they are several: the
// direction of an upper node has as many weights as there are features, and a sparse row few
// values.
class Descent {
  public:
    Descent(const ObliqueTrees& trees, const FloatRows& x)
        : trees_(trees),
          x_(x),
          order_(x.n_rows),
          right_(x.n_rows),
          in_full_(x.is_sparse() ? x.n_features : 0) {}

    void find(std::size_t tree, std::int32_t* leaves) {
        first_node_ = trees_.node_start[tree];
        std::iota(order_.begin(), order_.end(), 0u);
        const bool has_one_leaf = trees_.node_start[tree + 1] == first_node_;
        pending_.assign(1, {has_one_leaf ? -1 : 0, 0, order_.size()});
        while (!pending_.empty()) {
            const Group group = pending_.back();
            pending_.pop_back();
            if (group.node < 0)
                arrive(group, -1 - group.node, tree, leaves);
            else if (!x_.is_sparse() || group.end - group.begin < least_group)
                go_alone(group, tree, leaves);
            else
                part(group);
        }
    }

  private:
    static constexpr std::size_t least_group = 4;

    struct Group {  // rows [begin, end) of the order, at a node, or at the leaf -1 - node
        std::int32_t node;
        std::size_t begin, end;
    };
    struct Direction {
        const std::int32_t* columns;
        const std::uint16_t* weights;
        std::size_t n;
    };

    const Node& node(std::int32_t at) const { return trees_.nodes[first_node_ + at]; }

    Direction direction(std::int32_t at) const {
        const auto start = trees_.direction_start[first_node_ + at];
        const auto end = trees_.direction_start[first_node_ + at + 1];
        return {trees_.columns + start, trees_.weights + start,
                static_cast<std::size_t>(end - start)};
    }

    std::int32_t child(std::int32_t at, float position) const {
        return node(at).child[!(position <= node(at).threshold)];
    }

    void arrive(const Group& group, std::int32_t leaf, std::size_t tree, std::int32_t* leaves) {
        for (std::size_t i = group.begin; i < group.end; ++i)
            leaves[order_[i] * trees_.n_trees + tree] = leaf;
    }

    // All products are added in the order of columns, one by one: a zero adds nothing, so that the
    // sum is to the last bit what growth had, whichever of the two is gone through.
    float along_direction(const float* row, const Direction& w) const {
        float sum = 0;
        for (std::size_t k = 0; k < w.n; ++k) sum += row[w.columns[k]] * from_half(w.weights[k]);
        return sum;
    }
    float along_row(std::size_t row) const {
        float sum = 0;
        for (auto at = x_.row_start[row]; at < x_.row_start[row + 1]; ++at)
            sum += x_.values[at] * in_full_[x_.columns[at]];
        return sum;
    }
    const float* dense_row(std::size_t row) const { return x_.values + row * x_.stride; }

    void part(const Group& group) {
        const Direction w = direction(group.node);
        const Node& here = node(group.node);
        for (std::size_t k = 0; k < w.n; ++k) in_full_[w.columns[k]] = from_half(w.weights[k]);
        std::size_t middle = group.begin, n_right = 0;
        for (std::size_t i = group.begin; i < group.end; ++i) {
            const std::uint32_t row = order_[i];
            if (along_row(row) <= here.threshold)
                order_[middle++] = row;
            else
                right_[n_right++] = row;
        }
        std::copy_n(right_.begin(), n_right, order_.begin() + static_cast<std::ptrdiff_t>(middle));
        for (std::size_t k = 0; k < w.n; ++k) in_full_[w.columns[k]] = 0;
        if (middle < group.end) pending_.push_back({here.child[1], middle, group.end});
        if (group.begin < middle) pending_.push_back({here.child[0], group.begin, middle});
    }

    // A sparse row is written out in full once for all nodes of its path.
    void go_alone(const Group& group, std::size_t tree, std::int32_t* leaves) {
        for (std::size_t i = group.begin; i < group.end; ++i) {
            const std::uint32_t row = order_[i];
            const float* values = x_.is_sparse() ? write_out(row) : dense_row(row);
            std::int32_t at = group.node;
            while (at >= 0) at = child(at, along_direction(values, direction(at)));
            arrive({at, i, i + 1}, -1 - at, tree, leaves);
            if (x_.is_sparse()) wipe(row);
        }
    }

    const float* write_out(std::size_t row) {
        for (auto at = x_.row_start[row]; at < x_.row_start[row + 1]; ++at)
            in_full_[x_.columns[at]] = x_.values[at];
        return in_full_.data();
    }
    void wipe(std::size_t row) {
        for (auto at = x_.row_start[row]; at < x_.row_start[row + 1]; ++at)
            in_full_[x_.columns[at]] = 0;
    }

    const ObliqueTrees& trees_;
    const FloatRows& x_;
    std::int64_t first_node_ = 0;
    std::vector<std::uint32_t> order_, right_;
    std::vector<Group> pending_;
    std::vector<float> in_full_;  // a direction or a row; zeros in between
};

}  // namespace

void find_oblique_leaves(const ObliqueTrees& trees, const FloatRows& x, std::int32_t* leaves) {
    if (x.n_rows == 0) return;
    Descent descent(trees, x);
    for (std::size_t tree = 0; tree < trees.n_trees; ++tree)
        if (trees.is_oblique[tree]) descent.find(tree, leaves);
}

}  // namespace sketchforest
