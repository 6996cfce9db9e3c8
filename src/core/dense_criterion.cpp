#include <algorithm>
#include <cstring>
#include <type_traits>

#include "aligned.hpp"
#include "criterion.hpp"

namespace sketchforest {
namespace {

template <class T>
class DenseCriterion final : public SplitCriterion {
  public:
    DenseCriterion(const Outputs& outputs, bool reads_often)
        : stride_(outputs.stride),
          is_narrow_(reads_often && (stride_ == 4 || stride_ == 8)),
          bag_(static_cast<const T*>(outputs.z)),
          total_(stride_),
          scratch_(stride_) {}

    void enter(std::size_t depth, std::span<const std::uint32_t> parent_rows) override {
        if (depth == 0) {  // the rows of the bag are in place
            if (is_narrow_) n_components_ = used_components(parent_rows.size());
            return;
        }
        if (packed_.size() < depth) packed_.resize(depth);
        AlignedVector<T>& packed = packed_[depth - 1];
        const T* parent = rows(depth - 1);
        if (packed.size() < parent_rows.size() * stride_)
            packed.resize(parent_rows.size() * stride_);
        T* to = packed.data();
        for (const std::uint32_t row : parent_rows) {
            std::memcpy(to, parent + row * stride_, stride_ * sizeof(T));
            to += stride_;
        }
    }

    bool pure(std::size_t depth, std::span<const std::uint32_t> node) const override {
        const T* z = rows(depth);
        const T* first = z + node.front() * stride_;
        return std::all_of(node.begin() + 1, node.end(), [&](std::uint32_t row) {
            return std::equal(first, first + stride_, z + row * stride_);
        });
    }

    void open(std::size_t depth, const RowSubset& subset, Range node, std::size_t slot,
              const Pieces& pieces) override {
        z_ = rows(depth);
        weights_ = subset.weight.data();
        is_weighed_ = false;
        if (slot == no_slot) {
            sum(node.rows(subset), total_.data());
            weight_ = total_weight(subset, node);
        } else {
            const double* kept = slots_.data() + slot * (stride_ + 1);
            std::copy_n(kept, stride_, total_.data());
            weight_ = kept[stride_];
        }
        if (is_narrow_ && node.size() > most_small) weigh(subset, node, pieces);
    }

    double weight() const override { return weight_; }

    double score() const override { return squares() / weight_; }

    SplitPoint scan(const Scan& scan, const Limits& limits, const Score& best) override {
        return scan_with(scratch_.data(), scan, limits, best);
    }

    std::unique_ptr<Scanner> another_scanner() const override {
        return std::make_unique<OtherScanner>(*this);
    }

    DenseNode dense_node() override { return node_with(scratch_.data()); }

    bool fill(SmallNode& to, const RowSubset& subset, Range node) override {
        if (!is_narrow_) return false;
        small_.fill(z_, stride_, subset, node, n_components_);
        to.z = small_.z;
        to.weights = small_.weights;
        to.total = total_.data();
        to.n_components = n_components_;
        return true;
    }

    void close(const RowSubset& subset, Range lighter, double weight, std::size_t slot) override {
        const std::size_t width = stride_ + 1;
        if (slots_.size() < (slot + 2) * width) slots_.resize((slot + 2) * width);
        double* kept = slots_.data() + slot * width;
        sum(lighter.rows(subset), kept);
        kept[stride_] = weight;
        // The heavier child is the node less its sibling, so it needs no pass over its rows.
        double* rest = kept + width;
        for (std::size_t j = 0; j < stride_; ++j) rest[j] = total_[j] - kept[j];
        rest[stride_] = weight_ - kept[stride_];
    }

  private:
    class OtherScanner final : public Scanner {
      public:
        explicit OtherScanner(const DenseCriterion& of) : of_(of), scratch_(of.stride_) {}

        SplitPoint scan(const Scan& scan, const Limits& limits, const Score& best) override {
            return of_.scan_with(scratch_.data(), scan, limits, best);
        }

      private:
        const DenseCriterion& of_;
        AlignedVector<double> scratch_;
    };

    SplitPoint scan_with(double* scratch, const Scan& scan, const Limits& limits,
                         const Score& best) const {
        if (is_weighed_ && scan.n_prefix == 0)
            return kernels().scan_narrow(
                scan, limits, {weighted_.data(), terms_.data(), squares(), stride_}, best);
        const DenseNode node = node_with(scratch);
        if constexpr (std::is_same_v<T, float>)
            return kernels().scan_float(scan, limits, node, best);
        else
            return kernels().scan_double(scan, limits, node, best);
    }

    DenseNode node_with(double* scratch) const {
        return {z_, std::is_same_v<T, double>, weights_, total_.data(), stride_, scratch};
    }

    const T* rows(std::size_t depth) const { return depth ? packed_[depth - 1].data() : bag_; }

    double squares() const {
        constexpr std::size_t lanes = 8;  // independent sums
        double sums[lanes]{};
        for (std::size_t j = 0; j < stride_; ++j) sums[j % lanes] += total_[j] * total_[j];
        return ((sums[0] + sums[4]) + (sums[2] + sums[6])) +
               ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    }

    // Rows that are scanned often are multiplied by their weights once.
    void weigh(const RowSubset& subset, Range node, const Pieces& pieces) {
        const std::size_t n_rows = subset.row.size();
        if (terms_.size() < n_rows) {
            terms_.resize(n_rows);
            weighted_.resize(n_rows * stride_);
        }
        const auto rows = node.rows(subset);
        const auto weigh =
            std::is_same_v<T, float> ? kernels().weigh_float : kernels().weigh_double;
        pieces.each([&](std::size_t, std::size_t begin, std::size_t end) {
            weigh(dense_node(), rows.data() + begin, end - begin, weighted_.data(), terms_.data());
        });
        is_weighed_ = true;
    }

    // The last columns may be padding.
    std::size_t used_components(std::size_t n_rows) const {
        const auto is_zero = [&](std::size_t column) {
            for (std::size_t row = 0; row < n_rows; ++row)
                if (bag_[row * stride_ + column] != 0) return false;
            return true;
        };
        std::size_t n = stride_;
        while (n > 1 && is_zero(n - 1)) --n;
        return n;
    }

    void sum(std::span<const std::uint32_t> rows, double* total) const {
        if constexpr (std::is_same_v<T, float>)
            kernels().sum_float(z_, weights_, stride_, rows.data(), rows.size(), total);
        else
            kernels().sum_double(z_, weights_, stride_, rows.data(), rows.size(), total);
    }

    std::size_t stride_;
    bool is_narrow_;
    const T* bag_;
    std::vector<AlignedVector<T>> packed_;
    std::vector<double> slots_;
    AlignedVector<double> total_, scratch_;
    bool is_weighed_ = false;
    AlignedVector<double> weighted_;
    std::vector<RowTerms> terms_;
    std::size_t n_components_ = 0;
    SmallOutputs small_;
    double weight_ = 0;
    const T* z_ = nullptr;
    const double* weights_ = nullptr;
};

}  // namespace

std::unique_ptr<SplitCriterion> make_dense_criterion(const Outputs& outputs, bool reads_often) {
    if (outputs.wide) return std::make_unique<DenseCriterion<double>>(outputs, reads_often);
    return std::make_unique<DenseCriterion<float>>(outputs, reads_often);
}

}  // namespace sketchforest
