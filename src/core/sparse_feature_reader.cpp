#include <algorithm>

#include "feature_reader.hpp"

namespace sketchforest {
namespace {

struct NoCode {};

// Each subset has its own columns of non-zeros, by column, made from the rows of X. A feature
// without non-zeros in the subset costs nothing, neither to make nor to look up.
template <class Code>
class SparseFeatureReader : public FeatureReader {
    static constexpr bool has_codes = !std::is_same_v<Code, NoCode>;

  public:
    explicit SparseFeatureReader(const Codes& codes)
        : codes_(codes), bucket_of_(codes.n_features, 0) {}

    // A column gets the room that it took in the enclosing subset, so that entries need not be
    // counted before they are placed.
    void enter(std::size_t depth, const RowSubset& subset) override {
        if (stack_.size() <= depth) stack_.resize(depth + 1);
        Block& block = stack_[depth];
        if (block.column.empty()) block.column.resize(codes_.n_features);
        for (const std::uint32_t feature : block.features) block.column[feature] = {};
        block.features.clear();
        std::uint64_t room = 0;
        const auto make_room = [&](std::uint32_t feature, std::uint64_t size) {
            block.column[feature] = {room, 0};
            block.features.push_back(feature);
            room += size;
        };
        if (depth == 0) {
            for (std::uint32_t feature = 0; feature < codes_.n_features; ++feature)
                make_room(feature, codes_.column_size[feature]);
        } else {
            const Block& above = stack_[depth - 1];
            for (const std::uint32_t feature : above.features)
                make_room(feature, above.column[feature].size);
        }
        if (block.rows.size() < room) {
            block.rows.resize(room);
            if constexpr (has_codes) block.codes.resize(room);
        }
        for (std::uint32_t i = 0; i < subset.row.size(); ++i) {
            const std::int64_t row = subset.row[i];
            for (std::int64_t at = codes_.row_start[row]; at < codes_.row_start[row + 1]; ++at) {
                Slice& column = block.column[codes_.columns[at]];
                const std::uint64_t to = column.start + column.size++;
                block.rows[to] = i;
                if constexpr (has_codes)
                    block.codes[to] = static_cast<const Code*>(codes_.codes)[at];
            }
        }
        std::erase_if(block.features,
                      [&](std::uint32_t feature) { return block.column[feature].size == 0; });
    }

    // All features of the subset; of a small node, those that its rows have.
    std::span<std::uint32_t> may_vary(std::size_t depth, const RowSubset& subset, Range node,
                                      std::span<std::uint32_t>) override {
        if (node.size() > bucket_size) return stack_[depth].features;
        node_features_.clear();
        for (const std::uint32_t row : node.rows(subset)) {
            for (const std::int32_t feature : columns_of(subset.row[row])) {
                if (bucket_of_[feature] == 0) node_features_.push_back(feature);
                bucket_of_[feature] = 1;
            }
        }
        for (const std::uint32_t feature : node_features_) bucket_of_[feature] = 0;
        return node_features_;
    }

    // The few rows of a small node are read whole, and each entry goes to the bucket of its
    // feature; bucket 0 takes those of features that are not requested.
    Gathered gather(const RowSubset& subset, Range node, std::span<const std::uint32_t> features,
                    const Pieces&) override {
        is_gathered_ = node.size() <= bucket_size && features.size() <= most_gathered;
        if (!is_gathered_) return {features};
        bucket_count_.assign(features.size() + 1, 0);
        if (buckets_.size() < bucket_count_.size() * bucket_size)
            buckets_.resize(bucket_count_.size() * bucket_size);
        std::uint32_t n_buckets = 0;
        for (const std::uint32_t feature : features) bucket_of_[feature] = ++n_buckets;
        for (const std::uint32_t row : node.rows(subset)) {
            const std::int64_t from = subset.row[row];
            for (std::int64_t at = codes_.row_start[from]; at < codes_.row_start[from + 1]; ++at) {
                const std::uint32_t bucket = bucket_of_[codes_.columns[at]];
                // Bucket 0 is never read; its entries overwrite each other.
                const std::uint32_t place = bucket_count_[bucket]++ % bucket_size;
                Entry& entry = buckets_[bucket * bucket_size + place];
                entry.row = row;
                if constexpr (has_codes) entry.code = static_cast<const Code*>(codes_.codes)[at];
            }
        }
        for (const std::uint32_t feature : features) bucket_of_[feature] = 0;
        return {features};
    }

    Column read_gathered(std::size_t place, std::size_t depth, const RowSubset& subset, Range node,
                         std::uint32_t feature, Entry* out) const override {
        if (!is_gathered_) return read(depth, subset, node, feature, out);
        const std::size_t n = bucket_count_[place + 1];
        std::copy_n(buckets_.data() + (place + 1) * bucket_size, n, out);
        return summed_up(feature, out, n);
    }

    Column read(std::size_t depth, const RowSubset& subset, Range node, std::uint32_t feature,
                Entry* out) const override {
        const Block& block = stack_[depth];
        const Slice slice = block.column[feature];
        const std::uint32_t* rows = block.rows.data() + slice.start;
        std::size_t n = 0;
        // A node is a range of positions; the entry is written first and kept by counting it, so
        // that the loop has no branch to mispredict.
        for (std::uint32_t i = 0; i < slice.size; ++i) {
            const std::uint32_t row = rows[i];
            out[n].row = row;
            if constexpr (has_codes) out[n].code = block.codes[slice.start + i];
            n += subset.position[row] - node.begin < node.size();
        }
        return summed_up(feature, out, n);
    }

  protected:
    static constexpr std::size_t bucket_size = 8;

    std::span<const std::int32_t> columns_of(std::int64_t row) const {
        return {codes_.columns + codes_.row_start[row], codes_.columns + codes_.row_start[row + 1]};
    }

    Column summed_up(std::uint32_t feature, Entry* entries, std::size_t n) const {
        Column column{n, ~0u, 0};
        if constexpr (has_codes) {
            for (std::size_t i = 0; i < n; ++i) {
                column.min_code = std::min(column.min_code, entries[i].code);
                column.max_code = std::max(column.max_code, entries[i].code);
            }
        } else {
            // The one value besides zero lies on the other side of zero's code.
            column.min_code = column.max_code = 1 - codes_.zero_code[feature];
            for (std::size_t i = 0; i < n; ++i) entries[i].code = column.min_code;
        }
        return column;
    }

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

    bool is_gathered_ = false;
    std::vector<std::uint32_t> bucket_of_;  // of each feature; 0 if not requested
    std::vector<std::uint32_t> bucket_count_;
    std::vector<Entry> buckets_;
    std::vector<std::uint32_t> node_features_;  // that the rows of a small node have
};

// If features are only present or absent, a column of a subset of at most 64 rows is one word: most
// nodes are small, and most features are absent from a small node.
class BinaryFeatureReader final : public SparseFeatureReader<NoCode> {
    using Base = SparseFeatureReader<NoCode>;
    static constexpr std::size_t word_size = 64;

  public:
    explicit BinaryFeatureReader(const Codes& codes) : Base(codes), word_(codes.n_features, 0) {}

    bool wants_subset(std::size_t n_node_rows, std::size_t n_subset_rows) const override {
        return n_subset_rows > word_size &&
               (n_node_rows <= word_size || n_node_rows <= n_subset_rows / subset_shrink);
    }

    void enter(std::size_t depth, const RowSubset& subset) override {
        if (subset.row.size() > word_size) return Base::enter(depth, subset);
        for (const std::uint32_t feature : subset_features_) word_[feature] = 0;
        std::size_t n_entries = 0;
        for (const std::int64_t row : subset.row) n_entries += columns_of(row).size();
        subset_features_.resize(n_entries + 1);
        std::uint64_t bit = 1;
        std::size_t n_present = 0;
        for (const std::int64_t row : subset.row) {
            for (const std::int32_t feature : columns_of(row)) {
                subset_features_[n_present] = feature;  // written first and kept by counting
                n_present += word_[feature] == 0;
                word_[feature] |= bit;
            }
            bit <<= 1;
        }
        subset_features_.resize(n_present);
    }

    Gathered gather(const RowSubset& subset, Range node, std::span<const std::uint32_t> features,
                    const Pieces& pieces) override {
        if (subset.row.size() > word_size) return Base::gather(subset, node, features, pieces);
        node_ = word_of(subset, node);
        if (varying_.size() < features.size()) varying_.resize(features.size());
        std::size_t n = 0;
        for (const std::uint32_t feature : features) {
            const std::uint64_t rows = word_[feature] & node_;
            varying_[n] = feature;
            n += rows != 0 && rows != node_;
        }
        return {{varying_.data(), n}};
    }

    Column read_gathered(std::size_t place, std::size_t depth, const RowSubset& subset, Range node,
                         std::uint32_t feature, Entry* out) const override {
        if (subset.row.size() > word_size)
            return Base::read_gathered(place, depth, subset, node, feature, out);
        return read_word(feature, node_, out);
    }

    Column read(std::size_t depth, const RowSubset& subset, Range node, std::uint32_t feature,
                Entry* out) const override {
        if (subset.row.size() > word_size) return Base::read(depth, subset, node, feature, out);
        return read_word(feature, word_of(subset, node), out);
    }

    std::span<std::uint32_t> may_vary(std::size_t depth, const RowSubset& subset, Range node,
                                      std::span<std::uint32_t> undrawn) override {
        if (subset.row.size() > word_size) return Base::may_vary(depth, subset, node, undrawn);
        return subset_features_;
    }

  private:
    static std::uint64_t word_of(const RowSubset& subset, Range node) {
        std::uint64_t rows = 0;
        for (const std::uint32_t row : node.rows(subset)) rows |= std::uint64_t{1} << row;
        return rows;
    }

    Column read_word(std::uint32_t feature, std::uint64_t node, Entry* out) const {
        const std::uint32_t code = 1 - codes_.zero_code[feature];
        std::size_t n = 0;
        for (std::uint64_t rest = word_[feature] & node; rest; rest &= rest - 1)
            out[n++] = {code, static_cast<std::uint32_t>(std::countr_zero(rest))};
        return {n, code, code};
    }

    std::vector<std::uint64_t> word_;  // of each feature: the rows of the subset that have it
    std::vector<std::uint32_t> subset_features_;  // those whose word is not 0
    std::uint64_t node_ = 0;                      // the rows of the node under search
    std::vector<std::uint32_t> varying_;
};

}  // namespace

std::unique_ptr<FeatureReader> make_sparse_reader(const Codes& codes) {
    switch (codes.code_bytes) {
        case 0:
            return std::make_unique<BinaryFeatureReader>(codes);
        case 1:
            return std::make_unique<SparseFeatureReader<std::uint8_t>>(codes);
        case 2:
            return std::make_unique<SparseFeatureReader<std::uint16_t>>(codes);
        default:
            return std::make_unique<SparseFeatureReader<std::uint32_t>>(codes);
    }
}

}  // namespace sketchforest
