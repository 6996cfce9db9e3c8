// A number by which bytes are known to be as they were written: at the speed of memory, and against
// accidents. Who changes bytes on purpose can make them have any checksum.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sketchforest {

std::uint64_t checksum(const std::uint8_t* bytes, std::size_t n);

}  // namespace sketchforest
