// All cuts of all features of a small node at once, where X is dense and nothing is missing.
#pragma once

#include "columns.hpp"
#include "node_search.hpp"
#include "target.hpp"

namespace sketchforest {

Outcome search_small_node(NodeSearch& search, Target& target, const Gathered& gathered);

}  // namespace sketchforest
