// Reads X for the search: one feature of one node at a time.
#pragma once

#include <memory>

#include "data.hpp"
#include "kernels.hpp"
#include "row_subset.hpp"
#include "team.hpp"

namespace sketchforest {

// The rows of a node whose value is stored, in `out`; the others (never in dense X) are zero.
struct Column {
    std::size_t n_entries = 0;
    std::uint32_t min_code = 0;  // over the entries; missing values have the largest code
    std::uint32_t max_code = 0;
};

// Features that are read together, before they are searched one by one.
struct Gathered {
    std::span<const std::uint32_t> features;  // those that may vary in the node, in order
    // Their codes, small_stride(node.size()) per feature, in the order of the node's rows; null if
    // they were not read.
    const std::uint32_t* codes = nullptr;
};

class FeatureReader {
  public:
    virtual ~FeatureReader() = default;

    // Prepares depth `depth` of the stack of subsets, replacing what was there.
    virtual void enter(std::size_t depth, const RowSubset& subset) = 0;

    // Whether a node should become a subset: once it has shrunk to a fraction of its subset, unless
    // it has so few rows that renumbering them costs more than it saves.
    virtual bool wants_subset(std::size_t n_node_rows, std::size_t n_subset_rows) const {
        return n_node_rows >= 16 && n_node_rows <= n_subset_rows / subset_shrink;
    }

    // Reads the features together, if that is faster. Then `read_gathered` reads them one by one,
    // by their position in the returned list.
    virtual Gathered gather(const RowSubset& subset, Range node,
                            std::span<const std::uint32_t> features, const Pieces& pieces) = 0;
    virtual Column read_gathered(std::size_t place, std::size_t depth, const RowSubset& subset,
                                 Range node, std::uint32_t feature, Entry* out) const = 0;

    // Threads may read several features at a time. `out` has room for one entry more than the node
    // has rows: sparse columns write an entry before they count it.
    virtual Column read(std::size_t depth, const RowSubset& subset, Range node,
                        std::uint32_t feature, Entry* out) const = 0;

    // All features that may vary in the node, in any order. Those not in `undrawn` are known to be
    // constant. The caller may permute the list.
    virtual std::span<std::uint32_t> may_vary(std::size_t depth, const RowSubset& subset,
                                              Range node, std::span<std::uint32_t> undrawn) = 0;

  protected:
    static constexpr std::size_t subset_shrink = 4;
    // Gathering more features would take too much memory.
    static constexpr std::size_t most_gathered = 1024;
};

std::unique_ptr<FeatureReader> make_dense_reader(const Codes& codes);
std::unique_ptr<FeatureReader> make_sparse_reader(const Codes& codes);

}  // namespace sketchforest
