#include "ranker.hpp"

#include <array>
#include <bit>
#include <cmath>
#include <numeric>

namespace sketchforest {
namespace {

constexpr int digit_bits = 11;
constexpr std::size_t n_digits = std::size_t{1} << digit_bits;

}  // namespace

template <class T>
std::vector<std::int64_t> ValueTable<T>::starts() const {
    std::vector<std::int64_t> starts(counts.size() + 1);
    std::partial_sum(counts.begin(), counts.end(), starts.begin() + 1);
    return starts;
}

// An unsigned number that sorts as the value does; -0.0 is 0.0.
template <class T>
auto Ranker<T>::sort_key(T value) -> Key {
    constexpr Key sign = Key{1} << (8 * sizeof(T) - 1);
    const auto bits = std::bit_cast<Key>(value == 0 ? T{0} : value);
    return bits & sign ? static_cast<Key>(~bits) : bits | sign;
}

template <class T>
void Ranker<T>::rank(std::span<const T> values, std::uint32_t* ranks, ValueTable<T>& table) {
    keys_.clear();
    rows_.clear();
    for (std::size_t row = 0; row < values.size(); ++row) {
        if (std::isnan(values[row])) continue;
        keys_.push_back(sort_key(values[row]));
        rows_.push_back(static_cast<std::uint32_t>(row));
    }
    const std::size_t n = keys_.size();
    scratch_keys_.resize(n);
    scratch_rows_.resize(n);
    // Radix sort from the lowest digit; a digit that all keys share needs no pass.
    for (int shift = 0; shift < static_cast<int>(8 * sizeof(T)); shift += digit_bits) {
        const auto digit = [shift](Key key) { return (key >> shift) & (n_digits - 1); };
        std::array<std::uint32_t, n_digits> at{};
        for (const Key key : keys_) ++at[digit(key)];
        if (n == 0 || at[digit(keys_[0])] == n) continue;
        std::exclusive_scan(at.begin(), at.end(), at.begin(), 0u);
        for (std::size_t i = 0; i < n; ++i) {
            const std::uint32_t to = at[digit(keys_[i])]++;
            scratch_keys_[to] = keys_[i];
            scratch_rows_[to] = rows_[i];
        }
        keys_.swap(scratch_keys_);
        rows_.swap(scratch_rows_);
    }
    std::uint32_t n_distinct = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (i == 0 || keys_[i] != keys_[i - 1]) {
            table.values.push_back(values[rows_[i]] == 0 ? T{0} : values[rows_[i]]);
            ++n_distinct;
        }
        ranks[rows_[i]] = n_distinct - 1;
    }
    if (n < values.size())
        for (std::size_t row = 0; row < values.size(); ++row)
            if (std::isnan(values[row])) ranks[row] = n_distinct;
    table.counts.push_back(n_distinct);
}

template struct ValueTable<float>;
template struct ValueTable<double>;
template class Ranker<float>;
template class Ranker<double>;

}  // namespace sketchforest
