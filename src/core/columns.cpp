#include "columns.hpp"

#include <algorithm>

namespace sketchforest {
namespace {

template <class Code>
class DenseColumns final : public Columns {
  public:
    explicit DenseColumns(const Codes& codes) : codes_(codes) {}

    void enter(std::size_t, const Level&) override {}

    std::span<std::uint32_t> varying(std::size_t) override { return {}; }

    Column read(std::size_t, const Level& level, Range node, std::uint32_t feature,
                Entry* out) const override {
        const Code* column = static_cast<const Code*>(codes_.codes) + feature * codes_.n_rows;
        std::uint32_t lowest = ~0u, highest = 0;
        for (const std::uint32_t row : node.rows(level)) {
            const std::uint32_t code = column[level.row[row]];
            lowest = std::min(lowest, code);
            highest = std::max(highest, code);
            *out++ = {code, row};
        }
        return {node.size(), lowest, highest};
    }

  private:
    const Codes& codes_;
};

struct NoCode {};

// Each level has its own columns of non-zeros, by column, made from the rows of X. A feature
// without non-zeros in the level costs nothing, neither to make nor to look up.
template <class Code>
class SparseColumns final : public Columns {
    static constexpr bool has_codes = !std::is_same_v<Code, NoCode>;

  public:
    explicit SparseColumns(const Codes& codes) : codes_(codes) {}

    void enter(std::size_t depth, const Level& level) override {
        if (stack_.size() <= depth) stack_.resize(depth + 1);
        Block& block = stack_[depth];
        if (block.column.empty()) block.column.resize(codes_.n_features);
        for (const std::uint32_t feature : block.features) block.column[feature] = {};
        block.features.clear();

        std::uint64_t n_entries = 0;
        for (const std::int64_t row : level.row) {
            n_entries += codes_.row_start[row + 1] - codes_.row_start[row];
            for (std::int64_t at = codes_.row_start[row]; at < codes_.row_start[row + 1]; ++at) {
                const std::uint32_t feature = codes_.columns[at];
                if (block.column[feature].size++ == 0) block.features.push_back(feature);
            }
        }
        std::uint64_t start = 0;
        for (const std::uint32_t feature : block.features) {
            block.column[feature].start = start;
            start += block.column[feature].size;
            block.column[feature].size = 0;
        }
        if (block.rows.size() < n_entries) {
            block.rows.resize(n_entries);
            if constexpr (has_codes) block.codes.resize(n_entries);
        }
        for (std::uint32_t i = 0; i < level.row.size(); ++i) {
            const std::int64_t row = level.row[i];
            for (std::int64_t at = codes_.row_start[row]; at < codes_.row_start[row + 1]; ++at) {
                Slice& column = block.column[codes_.columns[at]];
                const std::uint64_t to = column.start + column.size++;
                block.rows[to] = i;
                if constexpr (has_codes)
                    block.codes[to] = static_cast<const Code*>(codes_.codes)[at];
            }
        }
    }

    std::span<std::uint32_t> varying(std::size_t depth) override { return stack_[depth].features; }

    Column read(std::size_t depth, const Level& level, Range node, std::uint32_t feature,
                Entry* out) const override {
        const Block& block = stack_[depth];
        const Slice slice = block.column[feature];
        const std::uint32_t* rows = block.rows.data() + slice.start;
        Column column{0, ~0u, 0};
        // A node is a range of positions; the entry is written first and kept by counting it, so
        // that the loop has no branch to mispredict.
        for (std::uint32_t i = 0; i < slice.size; ++i) {
            const std::uint32_t row = rows[i];
            out[column.n_entries].row = row;
            if constexpr (has_codes)
                out[column.n_entries].code = block.codes[slice.start + i];
            else
                out[column.n_entries].code = 0;
            column.n_entries += level.position[row] - node.begin < node.size();
        }
        if constexpr (has_codes) {
            for (std::size_t i = 0; i < column.n_entries; ++i) {
                column.min_code = std::min(column.min_code, out[i].code);
                column.max_code = std::max(column.max_code, out[i].code);
            }
        } else {
            // The one value besides zero lies on the other side of zero's code.
            const std::uint32_t code = 1 - codes_.zero_code[feature];
            for (std::size_t i = 0; i < column.n_entries; ++i) out[i].code = code;
            column.min_code = column.max_code = code;
        }
        return column;
    }

  private:
    struct Slice {
        std::uint64_t start = 0;
        std::uint32_t size = 0;
    };
    struct Block {
        std::vector<Slice> column;            // for each feature
        std::vector<std::uint32_t> features;  // that have entries
        std::vector<std::uint32_t> rows;
        std::vector<std::conditional_t<has_codes, Code, char>> codes;
    };

    const Codes& codes_;
    std::vector<Block> stack_;
};

}  // namespace

std::unique_ptr<Columns> make_columns(const Codes& codes) {
    if (codes.sparse) {
        switch (codes.code_bytes) {
            case 0: return std::make_unique<SparseColumns<NoCode>>(codes);
            case 1: return std::make_unique<SparseColumns<std::uint8_t>>(codes);
            case 2: return std::make_unique<SparseColumns<std::uint16_t>>(codes);
            default: return std::make_unique<SparseColumns<std::uint32_t>>(codes);
        }
    }
    switch (codes.code_bytes) {
        case 1: return std::make_unique<DenseColumns<std::uint8_t>>(codes);
        case 2: return std::make_unique<DenseColumns<std::uint16_t>>(codes);
        default: return std::make_unique<DenseColumns<std::uint32_t>>(codes);
    }
}

}  // namespace sketchforest
