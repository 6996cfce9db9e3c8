#include <algorithm>
#include <cstring>
#include <type_traits>

#include "aligned.hpp"
#include "target.hpp"

namespace sketchforest {
namespace {

template <class T>
class DenseTarget final : public Target {
  public:
    explicit DenseTarget(const Outputs& outputs)
        : stride_(outputs.stride),
          bag_(static_cast<const T*>(outputs.z)),
          total_(stride_),
          scratch_(stride_) {}

    void enter(std::size_t depth, std::span<const std::uint32_t> parent_rows) override {
        if (depth == 0) return;  // the bag's rows are where they should be
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

    void open(std::size_t depth, const Level& level, Range node, std::size_t slot) override {
        z_ = rows(depth);
        weights_ = level.weight.data();
        if (slot == no_slot) {
            sum(node.rows(level), total_.data());
            weight_ = total_weight(level, node);
        } else {
            const double* kept = slots_.data() + slot * (stride_ + 1);
            std::copy_n(kept, stride_, total_.data());
            weight_ = kept[stride_];
        }
    }

    double weight() const override { return weight_; }

    double score() const override {
        double squares = 0;
        for (const double s : total_) squares += s * s;
        return squares / weight_;
    }

    Cut scan(const Scan& scan, const Limits& limits, const Score& best) override {
        const DenseNode node{z_, weights_, total_.data(), stride_, scratch_.data()};
        if constexpr (std::is_same_v<T, float>)
            return kernels().scan_float(scan, limits, node, best);
        else
            return kernels().scan_double(scan, limits, node, best);
    }

    void close(const Level& level, Range smaller, std::size_t slot) override {
        const std::size_t width = stride_ + 1;
        if (slots_.size() < (slot + 2) * width) slots_.resize((slot + 2) * width);
        double* kept = slots_.data() + slot * width;
        sum(smaller.rows(level), kept);
        kept[stride_] = total_weight(level, smaller);
        // The larger child is the node less its sibling, so it needs no pass over its rows.
        double* rest = kept + width;
        for (std::size_t j = 0; j < stride_; ++j) rest[j] = total_[j] - kept[j];
        rest[stride_] = weight_ - kept[stride_];
    }

  private:
    const T* rows(std::size_t depth) const { return depth ? packed_[depth - 1].data() : bag_; }

    void sum(std::span<const std::uint32_t> rows, double* total) const {
        if constexpr (std::is_same_v<T, float>)
            kernels().sum_float(z_, weights_, stride_, rows.data(), rows.size(), total);
        else
            kernels().sum_double(z_, weights_, stride_, rows.data(), rows.size(), total);
    }

    std::size_t stride_;
    const T* bag_;
    std::vector<AlignedVector<T>> packed_;
    std::vector<double> slots_;
    AlignedVector<double> total_, scratch_;
    double weight_ = 0;
    const T* z_ = nullptr;
    const double* weights_ = nullptr;
};

}  // namespace

std::unique_ptr<Target> make_dense_target(const Outputs& outputs) {
    if (outputs.wide) return std::make_unique<DenseTarget<double>>(outputs);
    return std::make_unique<DenseTarget<float>>(outputs);
}

}  // namespace sketchforest
