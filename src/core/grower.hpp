// Growing one tree.
#pragma once

#include "data.hpp"

namespace sketchforest {

// Returns a tree without leaves if `stop` was requested.
Tree grow(const Codes& codes, const Outputs& outputs, const Bag& bag, const GrowParams& params,
          Stop& stop);

}  // namespace sketchforest
