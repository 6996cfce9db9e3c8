// Vectors of a fixed number of lanes, for the kernels alone. Each of their files is compiled once
// for each instruction set, so that everything here has internal linkage, and nothing of the
// standard library is used that might: if two objects define an inline function, the linker keeps
// either, possibly the one that the machine cannot execute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace sketchforest {
namespace {

// L doubles that are added as one. The number of lanes is part of the result (sums depend on their
// order), so it is the same on every machine.
template <class T, int L>
struct Lanes {
    typedef T type __attribute__((vector_size(L * sizeof(T))));
};
template <class T>
struct Lanes<T, 1> {
    typedef T type;
};
template <int L>
using Doubles = typename Lanes<double, L>::type;

template <class T, int L>
inline typename Lanes<T, L>::type load(const T* from) {
    typename Lanes<T, L>::type lanes;
    std::memcpy(&lanes, from, sizeof lanes);
    return lanes;
}

template <class T, int L>
inline Doubles<L> widen(const T* from) {
    if constexpr (L == 1) return static_cast<double>(*from);
#if defined(__AVX512F__)
    // Otherwise GCC would convert two halves and join them. With a mask of all lanes, since it
    // warns of its own header without.
    else if constexpr (L == 8 && sizeof(T) == sizeof(float))
        return _mm512_maskz_cvtps_pd(0xff, _mm256_loadu_ps(from));
#endif
    else
        return __builtin_convertvector((load<T, L>(from)), Doubles<L>);
}

// The sums of two vectors, made together: a pair of half-way sums costs what one does.
struct Pair {
    double a, b;
};
inline Pair sums(Doubles<1> a, Doubles<1> b) {
    return {a, b};
}
inline Pair sums(Doubles<4> a, Doubles<4> b) {
    const Doubles<4> pairs =
        __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
    return {pairs[0] + pairs[2], pairs[1] + pairs[3]};
}
inline Pair sums(Doubles<8> a, Doubles<8> b) {
    const Doubles<8> pairs = __builtin_shufflevector(a, b, 0, 8, 2, 10, 4, 12, 6, 14) +
                             __builtin_shufflevector(a, b, 1, 9, 3, 11, 5, 13, 7, 15);
    const Doubles<4> quarter = __builtin_shufflevector(pairs, pairs, 0, 1, 2, 3) +
                               __builtin_shufflevector(pairs, pairs, 4, 5, 6, 7);
    return {quarter[0] + quarter[2], quarter[1] + quarter[3]};
}

inline bool any(typename Lanes<std::int64_t, 8>::type lanes) {
    const auto halves = __builtin_shufflevector(lanes, lanes, 0, 1, 2, 3) |
                        __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7);
    return (halves[0] | halves[1] | halves[2] | halves[3]) != 0;
}

inline double sum(Doubles<4> lanes) {
    return (lanes[0] + lanes[2]) + (lanes[1] + lanes[3]);
}
inline double sum(Doubles<8> lanes) {
    return sum(Doubles<4>(__builtin_shufflevector(lanes, lanes, 0, 1, 2, 3) +
                          __builtin_shufflevector(lanes, lanes, 4, 5, 6, 7)));
}

// The row of a table that starts at `rows`. A product of 64 bits: one of 32 is too small for 2^29
// rows of eight numbers.
template <class T>
inline T* row_at(T* rows, std::uint32_t row, std::size_t stride) {
    return rows + row * stride;
}

inline std::size_t smaller(std::size_t a, std::size_t b) {
    return a < b ? a : b;
}

}  // namespace
}  // namespace sketchforest
