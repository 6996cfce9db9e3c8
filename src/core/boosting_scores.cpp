#include <algorithm>
#include <vector>

#include "boosting.hpp"
#include "team.hpp"

namespace sketchforest {
namespace {

// Rows of one piece of work. Sums over more rows are sums of sums, so that they are the same on
// any number of threads, and floats add up few rows at a time.
constexpr std::size_t piece_rows = 2048;
constexpr std::size_t float_rows = 64;

// Gradients and second derivatives of one row after the other.
class RowGradients {
  public:
    explicit RowGradients(const Scores& scores)
        : scores_(scores), gradients_(scores.n_outputs), hessians_(scores.n_outputs, 1.0f) {}

    // Returns the loss if it is wanted.
    double find(std::size_t row, bool wants_loss = false) {
        const std::size_t n = scores_.n_outputs;
        const float* values = scores_.values + row * n;
        if (scores_.loss == Loss::squared_error) {
            std::copy_n(values, n, gradients_.data());
            double loss = 0;
            if (wants_loss)
                for (std::size_t i = 0; i < n; ++i)
                    loss += static_cast<double>(values[i]) * values[i];
            return loss;
        }
        double loss = 0;
        if (scores_.loss == Loss::cross_entropy) {
            loss = kernels().absent_label_gradients(values, n, gradients_.data(), hessians_.data(),
                                                    wants_loss);
        } else {
            for (std::size_t group = 0; group + 1 < scores_.groups.size(); ++group) {
                const std::size_t first = scores_.groups[group];
                loss += kernels().softmax_gradients(
                    values + first, scores_.groups[group + 1] - first, gradients_.data() + first,
                    hessians_.data() + first, wants_loss);
            }
        }
        const SparseRows& labels = scores_.labels;
        for (std::int64_t at = labels.row_start[row]; at < labels.row_start[row + 1]; ++at) {
            const std::int32_t label = labels.columns[at];
            gradients_[label] -= 1;
            loss -= values[label];
        }
        return loss;
    }

    const float* gradients() const { return gradients_.data(); }
    const float* hessians() const { return hessians_.data(); }
    double weight(std::size_t row) const { return scores_.weights ? scores_.weights[row] : 1.0; }

  private:
    const Scores& scores_;
    std::vector<float> gradients_, hessians_;
};

// work(piece) for pieces of [0, n).
template <class Work>
void by_pieces(std::size_t n, std::size_t n_threads, Work work) {
    const std::size_t n_pieces = (n + piece_rows - 1) / piece_rows;
    Team team(std::min(n_threads, n_pieces));
    team.run(n_pieces, [&](std::size_t piece) {
        work(piece, piece * piece_rows, std::min(n, (piece + 1) * piece_rows));
    });
}

struct Piece {
    std::size_t leaf, first, end;
};

void sum_piece(const Scores& scores, std::span<const std::uint32_t> rows, bool squares,
               double* gradient_sums, double* other_sums) {
    const std::size_t n = scores.n_outputs;
    RowGradients row_gradients(scores);
    std::vector<float> sums(n), others(n);
    for (std::size_t first = 0; first < rows.size(); first += float_rows) {
        std::fill(sums.begin(), sums.end(), 0.0f);
        std::fill(others.begin(), others.end(), 0.0f);
        for (const std::uint32_t row :
             rows.subspan(first, std::min(float_rows, rows.size() - first))) {
            row_gradients.find(row);
            const float* g = row_gradients.gradients();
            const float* h = squares ? g : row_gradients.hessians();
            const auto w = static_cast<float>(row_gradients.weight(row));
            if (squares)
                for (std::size_t i = 0; i < n; ++i) others[i] += (w * g[i]) * (w * g[i]);
            else
                for (std::size_t i = 0; i < n; ++i) others[i] += w * h[i];
            for (std::size_t i = 0; i < n; ++i) sums[i] += w * g[i];
        }
        for (std::size_t i = 0; i < n; ++i) {
            gradient_sums[i] += static_cast<double>(sums[i]);
            other_sums[i] += static_cast<double>(others[i]);
        }
    }
}

}  // namespace

void sketch_scores(const Scores& scores, std::span<const std::uint32_t> rows, const float* p,
                   std::size_t stride, std::size_t n_threads, float* z) {
    by_pieces(rows.size(), n_threads, [&](std::size_t, std::size_t first, std::size_t end) {
        RowGradients row_gradients(scores);
        for (std::size_t at = first; at < end; ++at) {
            const std::size_t row = rows[at];
            row_gradients.find(row);
            const auto weight = static_cast<float>(row_gradients.weight(row));
            float* to = z + row * stride;
            if (p) {
                kernels().sketch_gradients(row_gradients.gradients(), scores.n_outputs, p, stride,
                                           to);
                for (std::size_t i = before_gradients; i < stride; ++i) to[i] *= weight;
            } else {
                for (std::size_t i = 0; i < scores.n_outputs; ++i)
                    to[before_gradients + i] = weight * row_gradients.gradients()[i];
            }
            to[0] = weight;
            to[1] = 1;
        }
    });
}

void sum_leaves(const Scores& scores, std::span<const std::uint32_t> rows,
                std::span<const std::int64_t> leaf_start, bool squares, std::size_t n_threads,
                double* gradients, double* others) {
    const std::size_t n = scores.n_outputs, n_leaves = leaf_start.size() - 1;
    std::vector<Piece> pieces;
    for (std::size_t leaf = 0; leaf < n_leaves; ++leaf) {
        const auto end = static_cast<std::size_t>(leaf_start[leaf + 1]);
        for (std::size_t first = leaf_start[leaf]; first < end; first += piece_rows)
            pieces.push_back({leaf, first, std::min(end, first + piece_rows)});
    }
    std::vector<double> sums(2 * n * pieces.size());
    Team team(std::min(n_threads, pieces.size()));
    team.run(pieces.size(), [&](std::size_t number) {
        const auto [leaf, first, end] = pieces[number];
        double* to = sums.data() + 2 * n * number;
        sum_piece(scores, rows.subspan(first, end - first), squares, to, to + n);
    });
    std::fill_n(gradients, n_leaves * n, 0.0);
    std::fill_n(others, n_leaves * n, 0.0);
    for (std::size_t number = 0; number < pieces.size(); ++number) {
        const std::size_t to = pieces[number].leaf * n;
        const double* from = sums.data() + 2 * n * number;
        for (std::size_t i = 0; i < n; ++i) {
            gradients[to + i] += from[i];
            others[to + i] += from[n + i];
        }
    }
}

void add_leaf_values(const Scores& scores, const std::int32_t* leaf_of, const float* values,
                     std::size_t n_threads) {
    const std::size_t n = scores.n_outputs;
    by_pieces(scores.n_rows, n_threads, [&](std::size_t, std::size_t first, std::size_t end) {
        for (std::size_t row = first; row < end; ++row) {
            float* to = scores.values + row * n;
            const float* from = values + leaf_of[row] * n;
            for (std::size_t i = 0; i < n; ++i) to[i] += from[i];
        }
    });
}

double sum_losses(const Scores& scores, std::span<const std::uint32_t> rows,
                  std::size_t n_threads) {
    std::vector<double> losses((rows.size() + piece_rows - 1) / piece_rows);
    by_pieces(rows.size(), n_threads, [&](std::size_t piece, std::size_t first, std::size_t end) {
        RowGradients row_gradients(scores);
        for (std::size_t at = first; at < end; ++at)
            losses[piece] += row_gradients.weight(rows[at]) * row_gradients.find(rows[at], true);
    });
    double total = 0;
    for (const double loss : losses) total += loss;
    return total;
}

}  // namespace sketchforest
