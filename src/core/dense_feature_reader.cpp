#include <algorithm>

#include "feature_reader.hpp"

namespace sketchforest {
namespace {

template <class Code>
class DenseFeatureReader final : public FeatureReader {
  public:
    explicit DenseFeatureReader(const Codes& codes) : codes_(codes) {}

    // Codes are read in place, whatever the subset.
    void enter(std::size_t, const RowSubset&) override {}

    // The rows of a small node lie far apart in a column, but the codes of one row lie close
    // together.
    Gathered gather(const RowSubset& subset, Range node, std::span<const std::uint32_t> features,
                    const Pieces& pieces) override {
        is_gathered_ =
            codes_.read_by_row(node.size(), features.size()) && features.size() <= most_gathered;
        if (!is_gathered_) return {features};
        const std::size_t stride = small_stride(node.size());
        if (gathered_.size() < stride * features.size()) gathered_.resize(stride * features.size());
        const auto rows = node.rows(subset);
        pieces.each([&](std::size_t, std::size_t begin, std::size_t end) {
            std::uint32_t* to = gathered_.data() + begin;
            for (const std::uint32_t row : rows.subspan(begin, end - begin)) {
                const Code* codes = static_cast<const Code*>(codes_.row_codes) +
                                    static_cast<std::size_t>(subset.row[row]) * codes_.n_features;
                for (std::size_t i = 0; i < features.size(); ++i)
                    to[i * stride] = codes[features[i]];
                ++to;
            }
        });
        return {features, gathered_.data()};
    }

    Column read_gathered(std::size_t place, std::size_t depth, const RowSubset& subset, Range node,
                         std::uint32_t feature, Entry* out) const override {
        if (!is_gathered_) return read(depth, subset, node, feature, out);
        const std::uint32_t* code = gathered_.data() + place * small_stride(node.size());
        return fill(subset, node, out, [&](std::uint32_t) -> std::uint32_t { return *code++; });
    }

    Column read(std::size_t, const RowSubset& subset, Range node, std::uint32_t feature,
                Entry* out) const override {
        const bool by_row = codes_.read_by_row(node.size(), 1);
        const Code* column = by_row
                                 ? static_cast<const Code*>(codes_.row_codes) + feature
                                 : static_cast<const Code*>(codes_.codes) + feature * codes_.n_rows;
        const std::size_t step = by_row ? codes_.n_features : 1;
        return fill(subset, node, out, [&](std::uint32_t row) -> std::uint32_t {
            return column[static_cast<std::size_t>(subset.row[row]) * step];
        });
    }

    std::span<std::uint32_t> may_vary(std::size_t, const RowSubset&, Range,
                                      std::span<std::uint32_t> undrawn) override {
        return undrawn;
    }

  private:
    template <class CodeOf>
    static Column fill(const RowSubset& subset, Range node, Entry* out, CodeOf code_of) {
        std::uint32_t lowest = ~0u, highest = 0;
        for (const std::uint32_t row : node.rows(subset)) {
            const std::uint32_t code = code_of(row);
            lowest = std::min(lowest, code);
            highest = std::max(highest, code);
            *out++ = {code, row};
        }
        return {node.size(), lowest, highest};
    }

    const Codes& codes_;
    bool is_gathered_ = false;
    std::vector<std::uint32_t> gathered_;
};

}  // namespace

std::unique_ptr<FeatureReader> make_dense_reader(const Codes& codes) {
    switch (codes.code_bytes) {
        case 1:
            return std::make_unique<DenseFeatureReader<std::uint8_t>>(codes);
        case 2:
            return std::make_unique<DenseFeatureReader<std::uint16_t>>(codes);
        default:
            return std::make_unique<DenseFeatureReader<std::uint32_t>>(codes);
    }
}

}  // namespace sketchforest
