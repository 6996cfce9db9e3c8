// What all growers share: where a node goes in the tree, and in which order nodes are split.
#pragma once

#include <algorithm>

#include "data.hpp"

namespace sketchforest {

constexpr std::uint32_t no_parent = ~0u;

// Where a node goes in the tree.
struct Place {
    std::uint32_t depth = 0;
    std::uint32_t parent = no_parent;
    int side = 0;

    bool is_root() const { return parent == no_parent; }
};

// A node whose split is known. The largest gain is split first, and of equal gains the oldest.
struct Priority {
    double gain;
    std::size_t serial;

    bool operator<(const Priority& other) const {
        return gain != other.gain ? gain < other.gain : serial > other.serial;
    }
};

class TreeBuilder {
  public:
    TreeBuilder() { tree.leaf_start.push_back(0); }

    static bool must_be_leaf(const TreeLimits& limits, const Place& place, std::uint32_t n_rows) {
        return place.depth >= limits.max_depth || n_rows < limits.min_samples_split || n_rows < 2 ||
               n_rows / 2 < limits.min_samples_leaf;
    }

    // Returns the places of the children. The threshold may be set later.
    std::pair<Place, Place> add_inner(const Place& place, std::uint32_t feature, float threshold,
                                      double gain) {
        const auto index = static_cast<std::uint32_t>(tree.nodes.size());
        connect(place, static_cast<std::int32_t>(index));
        tree.nodes.push_back({feature, threshold, {0, 0}});
        tree.gains.push_back(gain);
        return {{place.depth + 1, index, 0}, {place.depth + 1, index, 1}};
    }

    // `bag_position` maps a row of the node to its position in the bag.
    template <class BagPosition>
    void add_leaf(const Place& place, std::span<const std::uint32_t> rows,
                  BagPosition bag_position) {
        connect(place, -static_cast<std::int32_t>(tree.leaf_start.size()));
        for (const std::uint32_t row : rows) tree.members.push_back(bag_position(row));
        tree.leaf_start.push_back(static_cast<std::uint32_t>(tree.members.size()));
    }

    // The next leaf stands for a part of the tree, which is grown separately.
    void mark_part(const Place& place) {
        const auto leaf = static_cast<std::uint32_t>(tree.leaf_start.size() - 1);
        tree.parts.push_back({leaf, place.depth});
    }

    Tree tree;

  private:
    void connect(const Place& place, std::int32_t reference) {
        if (!place.is_root()) tree.nodes[place.parent].child[place.side] = reference;
        tree.depth = std::max(tree.depth, place.depth);
    }
};

}  // namespace sketchforest
