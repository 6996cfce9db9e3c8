#include "kernels/table.hpp"

namespace sketchforest::LEVEL {

const Kernels table = {
    .scan_float = scan_float,
    .scan_double = scan_double,
    .sum_float = sum_float,
    .sum_double = sum_double,
    .choose_cut = choose_cut,
    .scan_narrow = scan_narrow,
    .scan_counts = scan_counts,
    .weigh_float = weigh_float,
    .weigh_double = weigh_double,
    .scan_small = scan_small,
    .sum_cuts_float = sum_cuts_float,
    .sum_cuts_double = sum_cuts_double,
    .bound_codes = bound_codes,
    .project = project,
    .rank_sort = rank_sort,
    .squared_length = squared_length,
    .vary = vary,
    .scale_squares = scale_squares,
    .descend = descend,
    .add_scaled = add_scaled,
    .centre_rows = centre_rows,
    .power_step = power_step,
    .multiply_rows = multiply_rows,
    .dense_moments = dense_moments,
    .dense_transposed_times = dense_transposed_times,
    .dense_times = dense_times,
    .dense_times_and_back = dense_times_and_back,
    .add_to_bins = add_to_bins,
    .add_to_places = add_to_places,
    .find_bin_cut = find_bin_cut,
    .absent_label_gradients = absent_label_gradients,
    .softmax_gradients = softmax_gradients,
    .sketch_gradients = sketch_gradients,
};

}  // namespace sketchforest::LEVEL
