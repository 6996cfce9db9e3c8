#include "arrays.hpp"
#include "check.hpp"
#include "label_ranks.hpp"
#include "native_work.hpp"

namespace sketchforest {
namespace {

struct TrueLabels {
    std::span<const std::int64_t> row_start, labels;
};

nb::tuple ranks_of(const TrueLabels& given, const Scores& scores, std::span<const double> values) {
    const auto& [row_start, labels] = given;
    std::vector<std::int64_t> n_at_least(labels.size()), n_true_at_least(labels.size());
    {
        const NativeWork work;
        check_labels(row_start, labels, scores.n_labels);
        check_finite(values);
        true_ranks({row_start.data(), labels.data(), row_start.size() - 1}, scores,
                   n_at_least.data(), n_true_at_least.data());
    }
    return to_arrays(n_at_least, n_true_at_least);
}

nb::tuple ranks_dense(Vector<std::int64_t> row_start, Vector<std::int64_t> labels,
                      Matrix<double> scores) {
    require(row_start.size() == scores.shape(0) + 1, "scores must have a row for each row of Y");
    return ranks_of({to_span(row_start), to_span(labels)},
                    {scores.data(), nullptr, nullptr, scores.shape(1)},
                    {scores.data(), scores.size()});
}

nb::tuple ranks_sparse(Vector<std::int64_t> row_start, Vector<std::int64_t> labels,
                       Vector<double> scores, Vector<std::int64_t> scored_labels,
                       Vector<std::int64_t> scored_start, std::size_t n_labels) {
    require(row_start.size() > 0 && scored_start.size() == row_start.size() &&
                scores.size() == scored_labels.size(),
            "scores must have a row for each row of Y");
    check_labels(to_span(scored_start), to_span(scored_labels), n_labels);
    return ranks_of({to_span(row_start), to_span(labels)},
                    {scores.data(), scored_start.data(), scored_labels.data(), n_labels},
                    to_span(scores));
}

}  // namespace

void bind_ranking(nb::module_& m) {
    m.def("ranks_dense", &ranks_dense);
    m.def("ranks_sparse", &ranks_sparse);
}

}  // namespace sketchforest
