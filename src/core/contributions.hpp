// What each feature adds to a prediction: the steps of a row down the trees, shared by features.
//
// A step changes the mean (or median) of the training rows below. It belongs to the feature that
// was asked for, or in an oblique node to several. There a row goes right where the sum of weights
// times values, w . x, is above the threshold. Feature j pushes it by w[j] x[j] - threshold w[j]^2
// / (w . w): these add up to the distance from the threshold, counted from the point of the cut
// that is nearest to zero, where zero is a middle rank, or a word that is not there. The features
// that push to the side where the row goes share the step, in proportion to their pushes.
#pragma once

#include "hierarchy.hpp"
#include "oblique.hpp"

namespace sketchforest {

// `base` and all rows of `added` add up to `scores`.
struct Contributions {
    std::vector<double> base;            // of each output, in all training rows
    std::vector<double> scores;          // of each output, in the leaves
    std::vector<std::int64_t> features;  // those that were asked for, ascending
    std::vector<double> added;           // a row of outputs for each of them
};

// What is explained: one row, by its leaf in each tree, for some outputs of the training rows.
struct Explained {
    const std::int32_t* leaf_of;
    const double* outputs;  // n_outputs for each training row
    std::size_t n_outputs;
    bool takes_medians;
    const FloatRows* seen;  // the row, where there are oblique trees
};
Contributions contributions(const Hierarchy& hierarchy, const Leaves& leaves,
                            const ObliqueTrees& trees, const Explained& row);

}  // namespace sketchforest
