// Growing one tree.
#pragma once

#include "data.hpp"

namespace sketchforest {

// An empty tree (no leaves) means that `stop` was requested.
Tree grow(const Codes& codes, const Outputs& outputs, const Bag& bag, const GrowParams& params,
          Stop& stop);

}  // namespace sketchforest
