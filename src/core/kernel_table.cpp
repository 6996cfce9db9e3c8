#include "kernels.hpp"

namespace sketchforest {

extern const Kernels kernels_baseline;
#ifdef X86_KERNELS
extern const Kernels kernels_v3;
extern const Kernels kernels_v4;
#endif

const Kernels& kernels() {
#ifdef X86_KERNELS
    static const Kernels& chosen = [&]() -> const Kernels& {
        __builtin_cpu_init();
        if (__builtin_cpu_supports("x86-64-v4")) return kernels_v4;
        if (__builtin_cpu_supports("x86-64-v3")) return kernels_v3;
        return kernels_baseline;
    }();
    return chosen;
#else
    return kernels_baseline;
#endif
}

}  // namespace sketchforest
