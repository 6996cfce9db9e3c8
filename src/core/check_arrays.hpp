// Checks of single arrays, for the files that check what is made of them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <type_traits>

namespace sketchforest {

// Both have 31-bit indices.
inline constexpr std::size_t most_rows = std::numeric_limits<std::int32_t>::max();
inline constexpr std::size_t most_features = most_rows;

inline void require(bool holds, const char* reason) {
    if (!holds) throw std::invalid_argument(reason);
}

// Loops do not exit early: collecting errors in a flag keeps them vectorized.
template <class Holds>
bool all_of(std::size_t n, Holds holds) {
    bool is_wrong = false;
    for (std::size_t i = 0; i < n; ++i) is_wrong |= !holds(i);
    return !is_wrong;
}

// Starts of pieces that fill [0, end).
inline bool are_starts(std::span<const std::int64_t> starts, std::size_t end) {
    return !starts.empty() && starts.front() == 0 &&
           starts.back() == static_cast<std::int64_t>(end) &&
           all_of(starts.size() - 1, [&](std::size_t i) { return starts[i] <= starts[i + 1]; });
}

// Whether all are in [0, end). Errors are collected in a bit, since comparisons would not
// vectorize.
template <class T>
bool are_below(std::span<const T> numbers, std::size_t end) {
    if (end == 0) return numbers.empty();
    using Bits = std::make_unsigned_t<T>;
    const auto last = static_cast<Bits>(
        std::min<std::uint64_t>(end - 1, static_cast<Bits>(std::numeric_limits<T>::max())));
    Bits wrong = 0;
    for (const T number : numbers) {
        const auto bits = static_cast<Bits>(number);
        wrong |= bits | (last - bits);  // the sign of both
    }
    return wrong >> (8 * sizeof(T) - 1) == 0;
}

// Columns of each row, strictly ascending.
template <class T>
bool are_ascending(const std::int64_t* row_start, const T* columns, std::size_t n_rows) {
    bool is_wrong = false;
    for (std::size_t row = 0; row < n_rows; ++row)
        for (std::int64_t at = row_start[row] + 1; at < row_start[row + 1]; ++at)
            is_wrong |= columns[at - 1] >= columns[at];
    return !is_wrong;
}

// Whether no exponent has all bits set: adding one would carry into the sign.
template <class T>
bool are_finite(std::span<const T> numbers) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    constexpr Bits sign = Bits{1} << (8 * sizeof(T) - 1);
    constexpr Bits infinite = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
    Bits wrong = 0;
    for (const T number : numbers)
        wrong |= (std::bit_cast<Bits>(number) & ~sign) + (sign - infinite);
    return (wrong & sign) == 0;
}

template <class T>
bool are_numbers(std::span<const T> numbers) {
    return all_of(numbers.size(), [&](std::size_t i) { return !std::isnan(numbers[i]); });
}

}  // namespace sketchforest
