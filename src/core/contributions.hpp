// Contributions of features to a prediction.
//
// Each step down a tree changes the mean (or median) of the training rows below. The change is
// credited to the feature of the split, or in an oblique node to several features. There a row goes
// right if w . x exceeds the threshold. Feature j pushes it by w[j] x[j] - threshold w[j]^2 / (w .
// w): these pushes add up to the distance from the threshold, measured from the point of the
// hyperplane nearest to zero, where zero is a middle rank or an absent word. The features that push
// the row to its side share the change in proportion to their pushes.
#pragma once

#include "hierarchy.hpp"
#include "oblique.hpp"

namespace sketchforest {

// `base` and all rows of `added` add up to `scores`.
struct Contributions {
    std::vector<double> base;            // per output, over all training rows
    std::vector<double> scores;          // per output, in the leaves
    std::vector<std::int64_t> features;  // of the splits on the way, ascending
    std::vector<double> added;           // a row of outputs per feature
};

// The row to explain, by its leaf in each tree, for some outputs of the training rows.
struct Explained {
    const std::int32_t* leaf_of;
    const double* outputs;  // n_outputs per training row
    std::size_t n_outputs;
    bool takes_medians;
    const FloatRows* seen;  // the row for oblique trees; null if there are none
};
Contributions contributions(const Hierarchy& hierarchy, const Leaves& leaves,
                            const ObliqueTrees& trees, const Explained& row);

}  // namespace sketchforest
