#include "arrays.hpp"
#include "native_work.hpp"
#include "ranks.hpp"

namespace sketchforest {
namespace {

nb::tuple ranks_of(Vector<std::int64_t> row_start, Vector<std::int64_t> labels, Scores scores) {
    const Truth truth{row_start.data(), labels.data(), row_start.size() - 1};
    std::vector<std::int64_t> n_at_least(labels.size()), n_true_at_least(labels.size());
    {
        const NativeWork work;
        true_ranks(truth, scores, n_at_least.data(), n_true_at_least.data());
    }
    return nb::make_tuple(to_array(std::move(n_at_least)), to_array(std::move(n_true_at_least)));
}

nb::tuple ranks_dense(Vector<std::int64_t> row_start, Vector<std::int64_t> labels,
                      Matrix<double> scores) {
    return ranks_of(row_start, labels, {scores.data(), nullptr, nullptr, scores.shape(1)});
}

nb::tuple ranks_sparse(Vector<std::int64_t> row_start, Vector<std::int64_t> labels,
                       Vector<double> scores, Vector<std::int64_t> scored_labels,
                       Vector<std::int64_t> scored_start, std::size_t n_labels) {
    return ranks_of(row_start, labels,
                    {scores.data(), scored_start.data(), scored_labels.data(), n_labels});
}

}  // namespace

void bind_ranking(nb::module_& m) {
    m.def("ranks_dense", &ranks_dense);
    m.def("ranks_sparse", &ranks_sparse);
}

}  // namespace sketchforest
