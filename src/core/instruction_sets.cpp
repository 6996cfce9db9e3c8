#include "instruction_sets.hpp"

#include <cstdlib>
#include <stdexcept>
#include <string>

#include "cpu_features.hpp"

namespace sketchforest {

namespace baseline {
extern const Kernels table;
}
namespace v3 {
extern const Kernels table;
}
namespace v4 {
extern const Kernels table;
}

namespace {

const InstructionSet& choose() {
    static const std::vector<InstructionSet> available = available_sets();
    const char* wanted = std::getenv("SKETCHFOREST_KERNELS");
    if (!wanted || !*wanted) return available.back();
    std::string names;
    for (const InstructionSet& set : available) {
        if (set.name == std::string(wanted)) return set;
        names += (names.empty() ? "" : ", ") + std::string(set.name);
    }
    throw std::invalid_argument(
        "SKETCHFOREST_KERNELS must name kernels that this machine can execute (" + names +
        "); got '" + wanted + "'. Unset it for the fastest of them.");
}

}  // namespace

std::vector<InstructionSet> available_sets() {
    std::vector<InstructionSet> sets{{"baseline", &baseline::table}};
#ifdef X86_KERNELS
    if (executes_x86_64_v3()) sets.push_back({"v3", &v3::table});
    if (executes_x86_64_v4()) sets.push_back({"v4", &v4::table});
#endif
    return sets;
}

const InstructionSet& set_in_use() {
    static const InstructionSet& chosen = choose();
    return chosen;
}

const Kernels& kernels() {
    static const Kernels& chosen = *set_in_use().kernels;
    return chosen;
}

}  // namespace sketchforest
