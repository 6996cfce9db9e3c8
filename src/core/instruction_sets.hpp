// The kernels that this machine can execute, and those in use.
#pragma once

#include <vector>

#include "kernels.hpp"

namespace sketchforest {

struct InstructionSet {
    const char* name;
    const Kernels* kernels;
};

// The fastest last.
std::vector<InstructionSet> available_sets();

// The fastest, or the one that the environment variable SKETCHFOREST_KERNELS names. Throws
// std::invalid_argument if it names none of the available ones.
const InstructionSet& set_in_use();

}  // namespace sketchforest
