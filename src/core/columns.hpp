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

    // Announces the features that will be read next, by their place in the list. A chance to read
    // them together.
    virtual void expect(std::size_t depth, const Level& level, Range node,
                        std::span<const std::uint32_t> features) = 0;
    virtual Column read_expected(std::size_t place, std::size_t depth, const Level& level,
                                 Range node, std::uint32_t feature, Entry* out) const = 0;

    virtual Column read(std::size_t depth, const Level& level, Range node, std::uint32_t feature,
                        Entry* out) const = 0;

    // Features that may vary among the node's rows, in any order (the caller may permute them);
    // empty where that is not known.
    virtual std::span<std::uint32_t> varying(std::size_t depth, const Level& level, Range node) = 0;
};

std::unique_ptr<Columns> make_columns(const Codes& codes);

}  // namespace sketchforest
