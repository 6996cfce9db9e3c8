// The kernels of kernels.cu on the CPU: the threads of a block are contexts that take turns, and
// blocks run one after the other. The build defines KERNELS, the path of the file.
//
//     g++ -std=c++20 -shared -fPIC -DKERNELS='"kernels.cu"' cuda_on_cpu.cpp -o kernels.so

// Fortified, longjmp would end the process when it jumps to the stack of another thread.
#undef _FORTIFY_SOURCE
#include <setjmp.h>
#include <ucontext.h>

#include <cstring>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

struct float4 {
    float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) {
    return {x, y, z, w};
}
struct Index {
    unsigned x;
};

namespace {

Index threadIdx, blockIdx, blockDim;

struct Thread {
    ucontext_t context;
    jmp_buf at;  // where it goes on, without the system calls of swapcontext
    std::vector<char> stack = std::vector<char>(1 << 16);
    bool has_begun = false, is_done = false;
    int n_exchanged = 0;
};
std::vector<Thread> threads;
jmp_buf scheduler;
std::function<void()> body;
unsigned n_waiting, n_done, round_number;
double exchanged[2][1024];  // by turns, so that nobody writes what others have yet to read
double dynamic_shared[6144];

void yield() {
    if (_setjmp(threads[threadIdx.x].at) == 0) _longjmp(scheduler, 1);
}

void run_thread() {
    body();
    threads[threadIdx.x].is_done = true;
    ++n_done;
    yield();
}

void run_block(unsigned n_threads) {
    threads.resize(n_threads);
    n_waiting = n_done = 0;
    for (Thread& thread : threads) {
        thread.has_begun = thread.is_done = false;
        thread.n_exchanged = 0;
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = thread.stack.size();
        thread.context.uc_link = nullptr;
        makecontext(&thread.context, run_thread, 0);
    }
    while (n_done < n_threads)
        for (volatile unsigned i = 0; i < n_threads; i = i + 1) {
            if (threads[i].is_done) continue;
            threadIdx.x = i;
            if (_setjmp(scheduler) != 0) continue;
            if (std::exchange(threads[i].has_begun, true)) _longjmp(threads[i].at, 1);
            setcontext(&threads[i].context);
        }
}

void __syncthreads() {
    const unsigned round = round_number;
    if (++n_waiting == blockDim.x) {
        n_waiting = 0;
        ++round_number;
    }
    while (round == round_number) yield();
}

// In each turn, every lane of a warp comes from one exchange to the next.
template <class T>
T __shfl_xor_sync(unsigned, T value, int lanes) {
    const unsigned own = threadIdx.x;
    double* const turn = exchanged[threads[own].n_exchanged++ % 2];
    turn[own] = static_cast<double>(value);
    yield();
    return static_cast<T>(turn[own ^ static_cast<unsigned>(lanes)]);
}

float __fadd_rn(float a, float b) {
    return a + b;
}
float __fmul_rn(float a, float b) {
    return a * b;
}
void atomicAdd(int* to, int value) {
    *to += value;
}

}  // namespace

#define __global__
#define __device__
#define __shared__ static
#define DYNAMIC_SHARED(type, name) type* const name = dynamic_shared
#include KERNELS

namespace {

// Calls a kernel with arguments that are pointers to values.
template <class... Args, std::size_t... I>
void call(void (*kernel)(Args...), void* const* args, std::index_sequence<I...>) {
    kernel(*static_cast<Args*>(args[I])...);
}
template <class... Args>
void launch_kernel(void (*kernel)(Args...), unsigned n_blocks, void* const* args) {
    body = [=] { call(kernel, args, std::index_sequence_for<Args...>{}); };
    for (unsigned block = 0; block < n_blocks; ++block) {
        blockIdx.x = block;
        run_block(blockDim.x);
    }
}

}  // namespace

extern "C" int launch(const char* name, unsigned n_blocks, unsigned n_threads, void* const* args) {
    const std::string_view wanted = name;
    blockDim.x = n_threads;
#define TRY(kernel) \
    if (wanted == #kernel) return launch_kernel(kernel, n_blocks, args), 1;
    TRY(centre)
    TRY(dot)
    TRY(dot_in_order)
    TRY(row_dots)
    TRY(add_up)
    TRY(moments)
    TRY(sum_products)
    TRY(join_floats)
    TRY(join_doubles)
    TRY(chunk_totals)
    TRY(totals_before)
    TRY(best_in_chunk)
    TRY(best_of_chunks)
    TRY(mark_largest)
    return 0;
}
