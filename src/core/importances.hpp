// Feature importances: the gains of splits by feature.
#pragma once

#include <span>

#include "oblique.hpp"

namespace sketchforest {

// The features in splits, ascending, and for each the sum over trees of its share in the gains of
// the tree. The features of an oblique node share its gain in proportion to their squared weights.
// `nodes` and `gains` are those of all trees.
struct Importances {
    std::vector<std::int64_t> features;
    std::vector<double> sums;
};
Importances find_importances(const ObliqueTrees& trees, std::span<const float> gains);

}  // namespace sketchforest
