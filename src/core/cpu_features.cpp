#include "cpu_features.hpp"

#ifdef X86_KERNELS

#ifdef _WIN32
#include <immintrin.h>
#include <intrin.h>

#include <array>
#include <cstdint>
#include <initializer_list>
#endif

namespace sketchforest {

#ifdef _WIN32

// The builtins of compilers need a library there that is not linked as a rule.
namespace {

using Registers = std::array<int, 4>;  // eax, ebx, ecx, edx

Registers cpuid(int leaf) {
    Registers found{};
    __cpuidex(found.data(), leaf, 0);
    return found;
}

bool has_bits(int word, std::initializer_list<int> bits) {
    for (const int bit : bits)
        if (!(static_cast<std::uint32_t>(word) >> bit & 1)) return false;
    return true;
}

// Whether the system saves these registers of a thread.
__attribute__((target("xsave"))) bool saves(std::uint64_t registers) {
    return (_xgetbv(0) & registers) == registers;
}

}  // namespace

bool executes_x86_64_v3() {
    if (cpuid(0)[0] < 7) return false;
    // fma, movbe, osxsave, avx, f16c; bmi1, avx2, bmi2; lzcnt.
    return has_bits(cpuid(1)[2], {12, 22, 27, 28, 29}) && has_bits(cpuid(7)[1], {3, 5, 8}) &&
           has_bits(cpuid(static_cast<int>(0x80000001u))[2], {5}) && saves(0x6);
}

bool executes_x86_64_v4() {
    // avx512 f, dq, cd, bw, vl.
    return executes_x86_64_v3() && has_bits(cpuid(7)[1], {16, 17, 28, 30, 31}) && saves(0xe6);
}

#else

bool executes_x86_64_v3() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("x86-64-v3");
}

bool executes_x86_64_v4() {
    __builtin_cpu_init();
    return __builtin_cpu_supports("x86-64-v4");
}

#endif

}  // namespace sketchforest

#endif  // X86_KERNELS
