// The input and output of growing: views of arrays that others own.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace sketchforest {

// An integer that sorts like the float. Zero has one sign.
inline std::uint32_t sortable(float value) {
    const auto bits = std::bit_cast<std::uint32_t>(value == 0 ? 0.0f : value);
    return bits >> 31 ? ~bits : bits | 0x80000000u;
}
inline float from_sortable(std::uint32_t code) {
    return std::bit_cast<float>(code >> 31 ? code & 0x7fffffffu : ~code);
}

// The largest float that does not exceed the value. A float exceeds both or neither.
inline float rounded_down(double value) {
    const float nearest = static_cast<float>(value);
    return nearest > value ? std::nextafter(nearest, -std::numeric_limits<float>::infinity())
                           : nearest;
}

// X with each value replaced by its rank among the distinct values of its feature. Nothing is lost:
// sorting codes sorts values, and a cut between two codes is a cut between two values. The code of
// a missing value follows the last rank.
//
// Random cuts need no ranks, so dense X may be encoded by value: the code is the float itself, as
// an integer that sorts like it.
struct Codes {
    std::size_t n_rows = 0;
    std::size_t n_features = 0;
    int code_bytes = 1;  // 1, 2 or 4; 0: sparse, and each feature has one value besides zero
    bool sparse = false;
    const void* codes = nullptr;      // dense: by column; sparse: beside `columns`
    const void* row_codes = nullptr;  // dense: the same by row, for small nodes; may be null

    // Sparse X: the non-zeros, by row.
    const std::int64_t* row_start = nullptr;
    const std::int32_t* columns = nullptr;
    const std::int32_t* column_size = nullptr;  // non-zeros of each feature
    const std::uint32_t* zero_code = nullptr;   // the code of 0.0 in each feature

    // The distinct values of each feature, ascending.
    const std::int64_t* value_start = nullptr;
    const void* values = nullptr;
    bool wide_values = false;  // double, else float

    bool by_value = false;

    // Dense codes of 4 bytes may also have bins of neighboring codes, to search large nodes. Those
    // of feature f have the numbers 0, 1, ..., and their lowest and highest codes start at
    // bin_start[f]; missing values are in the bin after them.
    const std::uint8_t* bins = nullptr;  // by column
    const std::int64_t* bin_start = nullptr;
    const std::uint32_t* bin_lowest = nullptr;
    const std::uint32_t* bin_highest = nullptr;

    std::size_t n_bins(std::size_t feature) const {
        return static_cast<std::size_t>(bin_start[feature + 1] - bin_start[feature]);
    }

    // Whether to read the dense codes of a node row by row, as its rows lie far apart in a column.
    // This pays off earlier if a row has no more cache lines than there are features to read, and
    // if a column has more lines than the node has rows.
    bool read_by_row(std::size_t node_size, std::size_t n_wanted) const {
        if (!row_codes) return false;
        const bool is_short = n_features * code_bytes <= 64 * n_wanted;
        if (node_size <= (is_short ? 4096u : 1024u)) return true;
        constexpr std::size_t most_read = 1 << 19;  // codes; they stay in the L2 cache
        return n_wanted > 1 && node_size <= n_rows * code_bytes / 64 &&
               node_size * n_wanted <= most_read;
    }
    std::uint32_t missing_code(std::size_t feature) const {
        if (by_value) return ~0u;
        return static_cast<std::uint32_t>(value_start[feature + 1] - value_start[feature]);
    }
    double value(std::size_t feature, std::uint32_t code) const {
        if (by_value) return from_sortable(code);
        const auto at = value_start[feature] + code;
        return wide_values ? static_cast<const double*>(values)[at]
                           : static_cast<double>(static_cast<const float*>(values)[at]);
    }
};

// A sparse matrix by rows: Y itself, or a sparse Z.
struct SparseRows {
    const std::int64_t* row_start = nullptr;
    const std::int32_t* columns = nullptr;
    const float* values = nullptr;  // null: every entry is 1
    std::size_t n_columns = 0;
};

// The outputs that splits are scored on: dense (a padded Z of floats or doubles, one row per in-bag
// row) or sparse (rows of Y, indexed by training row).
struct Outputs {
    const void* z = nullptr;
    bool wide = false;       // z holds doubles
    std::size_t stride = 0;  // components per row with padding: 1, 4 or a multiple of 8
    SparseRows sparse;       // used if z is null
};

// The in-bag rows of one tree and their weights.
struct Bag {
    std::span<const std::int32_t> rows;
    std::span<const double> weights;
};

// What splits reduce: a measure of how much the outputs in a node differ.
enum class Impurity {
    variance,  // of outputs, or of the indicators of classes, which is their Gini impurity
    entropy,   // of classes
    label_entropy,
    poisson,
    absolute_error,  // from the median
};

// Nodes below the root with this many rows are left as leaves, to be grown as trees of their own,
// possibly by other threads. None if `most` is 0.
struct PartSizes {
    std::uint32_t least = 0;
    std::uint32_t most = 0;

    bool include(std::uint32_t n_rows) const { return least <= n_rows && n_rows <= most; }
};

// Limits for the trees of all growers.
struct TreeLimits {
    std::uint32_t max_depth = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t min_samples_split = 2;
    std::uint32_t min_samples_leaf = 1;
    double min_weight_leaf = 0;
    double min_gain = 0;               // minimum increase of the score by a split
    std::uint32_t max_leaf_nodes = 0;  // 0: no limit; otherwise the tree is grown best first
    PartSizes parts;                   // if leaves are not limited
    std::uint64_t key = 0;             // of the tree's random stream
};

struct GrowParams : TreeLimits {
    Impurity impurity = Impurity::variance;
    std::uint32_t max_features = 1;
    bool random_cuts = false;
    std::uint32_t n_threads = 1;
    // They share the features of nodes of so many rows or more.
    std::uint32_t shared_rows = std::numeric_limits<std::uint32_t>::max();
    std::uint32_t piece_rows = 0;  // that a thread takes at a time; 0: all of a node
    // Nodes of so many rows or more are searched in bins, if X has them.
    std::uint32_t binned_rows = std::numeric_limits<std::uint32_t>::max();
};

// An inner node. A child >= 0 is an inner node, a child < 0 is leaf number -1 - child.
struct Node {
    std::uint32_t feature;  // the high bit says that missing values go left
    float threshold;        // left: x <= threshold
    std::int32_t child[2];
};
static_assert(sizeof(Node) == 16);

constexpr std::uint32_t missing_left_bit = 0x80000000u;

// A leaf that stands for a part of the tree, and its depth.
struct TreePart {
    std::uint32_t leaf;
    std::uint32_t depth;
};
static_assert(sizeof(TreePart) == 8);

struct Tree {
    std::vector<Node> nodes;                // in order of creation; the root is first
    std::vector<double> wide_thresholds;    // empty if floats separate the training values
    std::vector<double> gains;              // increase of the score at each inner node
    std::vector<std::uint32_t> leaf_start;  // leaf i holds members [leaf_start[i], leaf_start[i+1])
    std::vector<std::uint32_t> members;     // positions in the bag
    std::vector<TreePart> parts;
    std::uint32_t depth = 0;
};

// Checked before each piece of work, with its number of rows; true stops the work soon.
class Stop {
  public:
    virtual ~Stop() = default;
    virtual bool requested(std::size_t n_rows) = 0;
};

}  // namespace sketchforest
