#include "label_ranks.hpp"

#include <algorithm>
#include <vector>

namespace sketchforest {
namespace {

// Up to this many thresholds, comparing each with all scores is faster than sorting the scores.
constexpr std::size_t few_thresholds = 24;

class Counter {
  public:
    // For each threshold, how many of the scores reach it.
    void count(const double* scores, std::size_t n_scores, const std::vector<double>& thresholds,
               std::int64_t* counts) {
        if (thresholds.size() <= few_thresholds) {
            for (std::size_t t = 0; t < thresholds.size(); ++t) {
                const double threshold = thresholds[t];
                std::int64_t n = 0;
                for (std::size_t i = 0; i < n_scores; ++i) n += scores[i] >= threshold;
                counts[t] = n;
            }
            return;
        }
        sorted_.assign(scores, scores + n_scores);
        std::sort(sorted_.begin(), sorted_.end());
        for (std::size_t t = 0; t < thresholds.size(); ++t)
            counts[t] =
                sorted_.end() - std::lower_bound(sorted_.begin(), sorted_.end(), thresholds[t]);
    }

  private:
    std::vector<double> sorted_;
};

}  // namespace

void true_ranks(const Truth& truth, const Scores& scores, std::int64_t* n_at_least,
                std::int64_t* n_true_at_least) {
    Counter counter;
    std::vector<double> of_true;
    for (std::size_t row = 0; row < truth.n_rows; ++row) {
        const std::int64_t begin = truth.row_start[row], end = truth.row_start[row + 1];
        if (begin == end) continue;
        const std::size_t first = scores.row_start ? static_cast<std::size_t>(scores.row_start[row])
                                                   : row * scores.n_labels;
        const std::size_t n_scores =
            scores.row_start ? static_cast<std::size_t>(scores.row_start[row + 1]) - first
                             : scores.n_labels;
        of_true.clear();
        if (scores.row_start) {
            // Both are in order, so each search begins where the last one ended.
            const std::int64_t* at = scores.labels + first;
            const std::int64_t* last = at + n_scores;
            for (std::int64_t i = begin; i < end; ++i) {
                at = std::lower_bound(at, last, truth.labels[i]);
                const bool is_scored = at != last && *at == truth.labels[i];
                of_true.push_back(is_scored ? scores.values[at - scores.labels] : 0.0);
            }
        } else {
            for (std::int64_t i = begin; i < end; ++i)
                of_true.push_back(scores.values[first + static_cast<std::size_t>(truth.labels[i])]);
        }
        counter.count(scores.values + first, n_scores, of_true, n_at_least + begin);
        counter.count(of_true.data(), of_true.size(), of_true, n_true_at_least + begin);
        // Labels without a score have the score 0.
        const auto n_absent = static_cast<std::int64_t>(scores.n_labels - n_scores);
        for (std::int64_t i = begin; i < end; ++i)
            if (of_true[static_cast<std::size_t>(i - begin)] <= 0) n_at_least[i] += n_absent;
    }
}

}  // namespace sketchforest
