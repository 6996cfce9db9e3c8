// Sorting entries by code.
#pragma once

#include <vector>

#include "kernels.hpp"

namespace sketchforest {

class EntrySorter {
  public:
    // Sorts ascending, or descending, by code. `lowest` and `highest` bound the codes.
    void sort(Entry* entries, std::size_t n, std::uint32_t lowest, std::uint32_t highest,
              bool descending);

  private:
    void radix_sort(Entry* entries, std::size_t n, std::uint32_t lowest, std::uint32_t highest);

    std::vector<Entry> scratch_;
    std::vector<std::uint32_t> counts_;
};

}  // namespace sketchforest
