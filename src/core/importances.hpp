// How much splits by each feature gain.
#pragma once

#include <span>

#include "oblique.hpp"

namespace sketchforest {

// The features that splits use, ascending, and of each the sum over the trees of its share in a
// tree's gains. An oblique node's gain is shared by its features in proportion to their squared
// weights. `nodes` and `gains` are those of all trees.
struct Importances {
    std::vector<std::int64_t> features;
    std::vector<double> sums;
};
Importances find_importances(const ObliqueTrees& trees, std::span<const float> gains);

}  // namespace sketchforest
