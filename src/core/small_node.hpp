// All cuts of all features of a small node at once, where X is dense and nothing is missing.
#pragma once

#include "criterion.hpp"
#include "feature_reader.hpp"
#include "node_search.hpp"

namespace sketchforest {

Outcome search_small_node(NodeSearch& search, SplitCriterion& criterion, const Gathered& gathered);

}  // namespace sketchforest
