// A checksum that is computed as fast as memory is read. It detects accidents, not deliberate
// changes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sketchforest {

std::uint64_t checksum(const std::uint8_t* bytes, std::size_t n);

}  // namespace sketchforest
