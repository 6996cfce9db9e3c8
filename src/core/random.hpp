// A counter-based random stream: the i-th number is a hash of (key, i).
//
// A stream is its key, so a tree's draws depend on nothing but its address (seed, tree, purpose):
// not on threads, order or what other trees drew.
#pragma once

#include <cstdint>

namespace sketchforest {

class Stream {
  public:
    explicit Stream(std::uint64_t key) : key_(mix(key)) {}

    std::uint64_t next() { return mix(key_ + golden * ++counter_); }

    // Uniform in {0, ..., n - 1}; the bias of the multiplication, n / 2^64, is below notice.
    std::uint32_t below(std::uint32_t n) {
        return static_cast<std::uint32_t>((static_cast<unsigned __int128>(next()) * n) >> 64);
    }

    // Two of them from one number; the bias, n / 2^32, is below notice for n up to 2^16.
    struct Two {
        std::uint32_t first, second;
    };
    Two below(std::uint32_t n, std::uint32_t m) {
        const std::uint64_t bits = next();
        return {static_cast<std::uint32_t>((bits >> 32) * n >> 32),
                static_cast<std::uint32_t>((bits & 0xffffffffu) * m >> 32)};
    }

    // Uniform in [0, 1).
    double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  private:
    static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;  // an odd number near 2^64 / phi

    // The finalizer of SplitMix64: every input bit flips every output bit half of the time.
    static std::uint64_t mix(std::uint64_t x) {
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
        x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
        return x ^ (x >> 31);
    }

    std::uint64_t key_;
    std::uint64_t counter_ = 0;
};

}  // namespace sketchforest
