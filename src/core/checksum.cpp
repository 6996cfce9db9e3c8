#include "checksum.hpp"

#include <bit>
#include <cstring>

namespace sketchforest {
namespace {

static_assert(std::endian::native == std::endian::little, "words are read as they are in the file");

constexpr std::size_t n_lanes = 8;  // independent products
constexpr std::size_t block = n_lanes * sizeof(std::uint64_t);
constexpr std::uint64_t odd = 0x9e3779b97f4a7c15;  // 2^64 divided by the golden ratio

// Each step is invertible, so that a change of one word is never lost. A product carries changes to
// higher bits only, so high bits are mixed into low ones first: changes of two bits, even of signs,
// do not cancel.
constexpr std::uint64_t mixed(std::uint64_t sum, std::uint64_t word) {
    const std::uint64_t both = sum ^ word;
    return std::rotl((both ^ both >> 32) * odd, 31);
}

void add_block(std::uint64_t (&lanes)[n_lanes], const std::uint8_t* bytes) {
    std::uint64_t words[n_lanes];
    std::memcpy(words, bytes, block);
    for (std::size_t lane = 0; lane < n_lanes; ++lane)
        lanes[lane] = mixed(lanes[lane], words[lane]);
}

}  // namespace

std::uint64_t checksum(const std::uint8_t* bytes, std::size_t n) {
    std::uint64_t lanes[n_lanes];
    for (std::size_t lane = 0; lane < n_lanes; ++lane) lanes[lane] = lane;
    std::size_t at = 0;
    for (; at + block <= n; at += block) add_block(lanes, bytes + at);
    if (at < n) {
        std::uint8_t rest[block] = {};
        std::memcpy(rest, bytes + at, n - at);
        add_block(lanes, rest);
    }
    std::uint64_t sum = n;  // zeros at the end count
    for (const std::uint64_t lane : lanes) sum = mixed(sum, lane);
    return mixed(sum, 0);
}

}  // namespace sketchforest
