// X as the search sees it: one column of one node at a time.
#pragma once

#include <memory>

#include "data.hpp"
#include "kernels.hpp"
#include "level.hpp"

namespace sketchforest {

// The rows of a node whose value is stored, in `out`; the others (none in dense X) are zero.
struct Column {
    std::size_t n_entries = 0;
    std::uint32_t min_code = 0;  // over the entries; a missing value has the largest code
    std::uint32_t max_code = 0;
};

class Columns {
  public:
    virtual ~Columns() = default;

    // Prepares depth `depth` of the stack of levels, replacing what was there.
    virtual void enter(std::size_t depth, const Level& level) = 0;

    // Whether a node should become a level of its own, or stay one of the nodes of its level: when
    // it has shrunk to a fraction of the level, but not to so few rows that numbering them anew
    // costs more than it saves.
    virtual bool wants_level(std::size_t n_node_rows, std::size_t n_level_rows) const {
        return n_node_rows >= 16 && n_node_rows <= n_level_rows / level_shrink;
    }

    // Announces the features that will be read next: a chance to read them together. Returns those
    // that may vary in the node, in the same order; they are read by their place in that list.
    virtual std::span<const std::uint32_t> expect(std::size_t depth, const Level& level, Range node,
                                                  std::span<const std::uint32_t> features) = 0;
    virtual Column read_expected(std::size_t place, std::size_t depth, const Level& level,
                                 Range node, std::uint32_t feature, Entry* out) const = 0;

    // The codes of the features that are expected, small_stride(node.size()) for each, in the order
    // of the node's rows; null where they are not at hand.
    virtual const std::uint32_t* dealt() const { return nullptr; }

    // Fills a table of codes, a row of `stride` for each of some rows of dense X. `by_row`: the rows
    // lie far apart, so that what is wanted of one of them had better be read together.
    virtual void tabulate(const Level& level, std::span<const std::uint32_t> rows,
                          std::span<const std::uint32_t> features, bool by_row, std::size_t stride,
                          std::uint32_t* table) const {
        (void)level, (void)rows, (void)features, (void)by_row, (void)stride, (void)table;
    }

    virtual Column read(std::size_t depth, const Level& level, Range node, std::uint32_t feature,
                        Entry* out) const = 0;

    // Features that may vary among the node's rows, in any order (the caller may permute them);
    // empty where that is not known.
    virtual std::span<std::uint32_t> varying(std::size_t depth, const Level& level, Range node) = 0;

  protected:
    static constexpr std::size_t level_shrink = 4;
};

std::unique_ptr<Columns> make_columns(const Codes& codes);

}  // namespace sketchforest
