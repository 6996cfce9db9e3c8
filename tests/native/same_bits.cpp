// The core without Python: its kernels against plain loops, and a few trees, whose hash must be the
// same for every instruction set and every processor.
//
//     same_bits          checks all kernels of this machine; grows trees with those in use
//     same_bits --sets   names the kernels of this machine, for SKETCHFOREST_KERNELS
//
// All numbers come from Stream and basic arithmetic: a library's logarithm may round differently
// elsewhere.
#include <algorithm>
#include <cstdio>
#include <numeric>
#include <string_view>

#include "aligned.hpp"
#include "encode.hpp"
#include "grower.hpp"
#include "instruction_sets.hpp"
#include "oblique.hpp"
#include "random.hpp"

using namespace sketchforest;

namespace {

template <class T>
using Many = std::vector<T>;

constexpr std::size_t n_rows = 600, n_features = 24, n_labels = 40;

Many<float> draw(std::uint64_t key, std::size_t n) {
    Stream stream(key);
    Many<float> values(n);
    for (float& value : values) value = static_cast<float>(stream.uniform() - 0.5);
    return values;
}
// ---- Kernels. Plain loops add up in doubles and in another order, hence the tolerance.

int n_failures = 0;

void expect(bool holds, const char* set, const char* kernel) {
    if (holds) return;
    std::printf("%s kernels: %s differs from a plain loop\n", set, kernel);
    ++n_failures;
}
bool close(double a, double b) {
    return std::abs(a - b) <= 1e-4 * (1 + std::abs(b));
}
bool close(const Many<float>& a, const Many<double>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](double x, double y) { return close(x, y); });
}

struct Node {
    std::size_t n, stride;
    Many<float> z = draw(stride, n* stride);
    Many<double> wide{z.begin(), z.end()}, weights, total = Many<double>(stride);
    AlignedVector<double> side = AlignedVector<double>(stride);
    Many<Entry> entries;
    Limits limits{n, 0, 3, 0};

    Node(std::size_t n, std::size_t stride) : n(n), stride(stride) {
        Stream stream(n);
        for (std::uint32_t i = 0; i < n; ++i) {
            entries.push_back({stream.below(20), i});
            weights.push_back(1 + i % 3);
            limits.weight += weights[i];
            for (std::size_t c = 0; c < stride; ++c) total[c] += weights[i] * z[i * stride + c];
        }
    }
    // The best cut after one of the codes: its score, and how many rows it takes.
    std::pair<double, std::size_t> best_cut() const {
        std::pair<double, std::size_t> best{-1, 0};
        for (std::uint32_t cut = 0; cut < 20; ++cut) {
            Many<double> sum(stride);
            double weight = 0, score = 0;
            std::size_t taken = 0;
            for (const Entry& entry : entries) {
                if (entry.code > cut) continue;
                ++taken, weight += weights[entry.row];
                for (std::size_t c = 0; c < stride; ++c)
                    sum[c] += weights[entry.row] * z[entry.row * stride + c];
            }
            if (taken < limits.min_rows || n - taken < limits.min_rows) continue;
            for (std::size_t c = 0; c < stride; ++c)
                score += sum[c] * sum[c] / weight +
                         (total[c] - sum[c]) * (total[c] - sum[c]) / (limits.weight - weight);
            if (score > best.first + 1e-9) best = {score, taken};
        }
        return best;
    }
};

void check_scans(const char* set, const Kernels& kernels, std::size_t n, std::size_t stride) {
    Node node(n, stride);
    const auto best = node.best_cut();
    const auto expect_best = [&](const SplitPoint& cut, const char* name) {
        expect(cut.n_taken == best.second && close(cut.score.value(), best.first), set, name);
    };
    Many<Entry> sorted = node.entries, ranked = node.entries;
    std::ranges::stable_sort(sorted, {}, &Entry::code);
    if (n <= most_ranked) {
        kernels.rank_sort(ranked.data(), n, 0, 20);
        const auto same = [](Entry a, Entry b) { return a.code == b.code && a.row == b.row; };
        expect(std::ranges::equal(ranked, sorted, same), set, "rank_sort");
    }
    const Scan scan{sorted.data(), n, 0, false};
    DenseNode dense{node.z.data(),     false,  node.weights.data(),
                    node.total.data(), stride, node.side.data()};
    expect_best(kernels.scan_float(scan, node.limits, dense, {}), "scan_float");
    if (stride == 4 || stride == 8) {
        double squares = 0;
        for (const double sum : node.total) squares += sum * sum;
        Many<std::uint32_t> rows(n);
        std::iota(rows.begin(), rows.end(), 0u);
        Many<double> weighted(n * stride);
        Many<RowTerms> terms(n);
        kernels.weigh_float(dense, rows.data(), n, weighted.data(), terms.data());
        const NarrowNode narrow{weighted.data(), terms.data(), squares, stride};
        expect_best(kernels.scan_narrow(scan, node.limits, narrow, {}), "scan_narrow");
    }
    dense.z = node.wide.data(), dense.wide = true;
    expect_best(kernels.scan_double(scan, node.limits, dense, {}), "scan_double");
}

// Products with n rows of `stride` floats, each kernel against the same sums in doubles.
void check_products(const char* set, const Kernels& kernels, std::size_t n, std::size_t stride) {
    const Many<float> x = draw(1, n * stride), w = draw(2, stride), v = draw(3, n);
    Many<std::int32_t> rows;
    Many<double> times(n), transposed(stride), powers(stride), sums(stride), squares(stride);
    for (std::size_t i = 0; i < n; ++i) {
        rows.push_back(static_cast<std::int32_t>(i));
        for (std::size_t c = 0; c < stride; ++c) times[i] += x[i * stride + c] * double{w[c]};
        for (std::size_t c = 0; c < stride; ++c) {
            const double value = x[i * stride + c];
            transposed[c] += v[i] * value;
            powers[c] += v[i] * times[i] * value;
            squares[c] += v[i] * value * value;
        }
    }
    const DenseRows dense{x.data(), rows.data(), n, stride};
    Many<float> out(n), back(stride), first(stride), second(stride), power(stride);
    kernels.dense_times(dense, w.data(), out.data());
    expect(close(out, times), set, "dense_times");
    kernels.multiply_rows(x.data(), n, stride, w.data(), out.data());
    expect(close(out, times), set, "multiply_rows");
    kernels.dense_times_and_back(dense, w.data(), v.data(), out.data(), back.data());
    expect(close(back, powers), set, "dense_times_and_back");
    kernels.power_step(x.data(), v.data(), n, stride, w.data(), power.data());
    expect(close(power, powers), set, "power_step");
    kernels.dense_moments(dense, v.data(), first.data(), second.data());
    expect(close(first, transposed) && close(second, squares), set, "dense_moments");
    double length = 0;
    for (const double value : x) length += value * value;
    expect(close(kernels.squared_length(x.data(), x.size()), length), set, "squared_length");
}

// ---- Trees.

class Never : public Stop {
    bool requested(std::size_t) override { return false; }
};

// FNV-1a, of the bytes of vectors.
class Hash {
  public:
    template <class T>
    Hash& add(const Many<T>& values) {
        const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
        for (std::size_t i = 0; i < values.size() * sizeof(T); ++i)
            state_ = (state_ ^ bytes[i]) * 0x100000001b3;
        return *this;
    }
    Hash& add(const Tree& tree) {
        return add(tree.nodes)
            .add(tree.wide_thresholds)
            .add(tree.gains)
            .add(tree.leaf_start)
            .add(tree.members);
    }
    void print(const char* name, std::size_t n_nodes) const {
        std::printf("%-28s %016llx  %zu nodes\n", name, static_cast<unsigned long long>(state_),
                    n_nodes);
    }

  private:
    std::uint64_t state_ = 0xcbf29ce484222325;
};

struct SparseData {
    Many<std::int64_t> start{0};
    Many<std::int32_t> columns;
    Many<float> values;

    SparseData(std::uint64_t key, std::size_t width, std::uint32_t most_value) {
        Stream stream(key);
        for (std::size_t row = 0; row < n_rows; ++row) {
            for (std::size_t column = 0; column < width; ++column) {
                if (stream.below(10) > 0) continue;
                columns.push_back(static_cast<std::int32_t>(column));
                values.push_back(1 + static_cast<float>(stream.below(most_value)));
            }
            start.push_back(static_cast<std::int64_t>(columns.size()));
        }
    }
};

void grow_trees() {
    Many<float> x = draw(5, n_rows * n_features), z = draw(6, n_rows * 8);
    for (std::size_t i = 0; i < x.size(); i += 3) x[i] = static_cast<float>(i % 7);  // ties
    for (std::size_t i = 0; i < z.size(); ++i) z[i] += x[i / 8 * n_features + i % 8];
    const SparseData words(7, n_features, 5), y(8, n_labels, 1);
    Many<std::int32_t> rows;
    Many<double> weights;
    for (std::size_t row = 0; row < n_rows; ++row) {
        if (row % 3 == 0) continue;
        rows.push_back(static_cast<std::int32_t>(row));
        weights.push_back(1 + static_cast<double>(row % 2));
    }
    Many<float> bag_z;
    for (const std::int32_t row : rows) bag_z.insert(bag_z.end(), &z[row * 8], &z[row * 8] + 8);
    const Bag bag{rows, weights};
    Never never;

    const NumberMatrix numbers{x.data(), n_rows, n_features, n_features, 1};
    Many<std::uint16_t> ranks(x.size()), row_ranks(x.size());
    const auto table = rank_columns<float>(numbers, 0, n_features, ranks.data());
    transpose_codes(ranks.data(), n_rows, n_features, 0, n_rows, row_ranks.data());
    const Many<std::int64_t> value_start = table.starts();
    Codes dense{.n_rows = n_rows, .n_features = n_features, .code_bytes = 2};
    dense.codes = ranks.data(), dense.row_codes = row_ranks.data();
    dense.value_start = value_start.data(), dense.values = table.values.data();

    const auto coded =
        encode_sparse<float>(words.values, words.columns, words.start, n_features, never);
    const Many<std::int64_t> sparse_start = coded.table.starts();
    Codes sparse{.n_rows = n_rows, .n_features = n_features, .sparse = true};
    std::visit(
        [&]<class Narrow>(const Narrow& narrow) {
            if constexpr (!std::is_same_v<Narrow, std::monostate>)
                sparse.codes = narrow.data(), sparse.code_bytes = sizeof narrow[0];
        },
        coded.codes);
    sparse.row_start = coded.row_start.data();
    sparse.columns = coded.columns.data(), sparse.column_size = coded.column_size.data();
    sparse.zero_code = coded.zero_code.data(), sparse.value_start = sparse_start.data();
    sparse.values = coded.table.values.data();

    Outputs sketch, labels;
    sketch.z = bag_z.data(), sketch.stride = 8;
    labels.sparse = {y.start.data(), y.columns.data(), nullptr, n_labels};
    for (const auto& [x_name, codes] : {std::pair{"dense", &dense}, {"sparse", &sparse}})
        for (const auto& [z_name, outputs] : {std::pair{"sketch", &sketch}, {"labels", &labels}})
            for (const bool random : {false, true}) {
                GrowParams params;
                params.max_features = 8, params.random_cuts = random;
                const Tree tree = grow(*codes, *outputs, bag, params, never);
                char name[64];
                std::snprintf(name, sizeof name, "%s %s %s", x_name, z_name,
                              random ? "random" : "best");
                Hash().add(tree).print(name, tree.nodes.size());
            }
    const FloatRows dense_x{n_rows, n_features, x.data(), n_features};
    FloatRows sparse_x{n_rows, n_features, words.values.data()};
    sparse_x.row_start = words.start.data(), sparse_x.columns = words.columns.data();
    for (const auto& [name, rows_of_x] :
         {std::pair{"dense oblique", &dense_x}, {"sparse oblique", &sparse_x}}) {
        const auto grown = grow_oblique(*rows_of_x, bag_z.data(), 8, bag, {}, never);
        Hash()
            .add(grown.tree)
            .add(grown.directions.start)
            .add(grown.directions.columns)
            .add(grown.directions.weights)
            .print(name, grown.tree.nodes.size());
    }
}

}  // namespace

int main(int n_arguments, char** arguments) {
    const auto sets = available_sets();
    if (n_arguments > 1 && std::string_view(arguments[1]) == "--sets") {
        for (const auto& set : sets) std::printf("%s\n", set.name);
        return 0;
    }
    for (const auto& [name, kernels] : sets) {
        for (const std::size_t stride : {1, 4, 8, 16, 24, 32, 40})
            for (const std::size_t n : {7, 16, 50, 300}) check_scans(name, *kernels, n, stride);
        for (const std::size_t stride : {8, 16, 40}) check_products(name, *kernels, 50, stride);
    }
    grow_trees();
    return n_failures > 0;
}
