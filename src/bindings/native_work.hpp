// Work without the GIL, in a process that may exit meanwhile.
//
// A thread that asks an interpreter for the GIL during shutdown is terminated at once, through our
// frames, which cannot be unwound, and crashes the process. So at exit `close` waits for running
// work: growing stops, and threads that return from work or start some sleep until the process has
// ended.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

#include "arrays.hpp"

namespace sketchforest {

class NativeWork {
  public:
    NativeWork() : state_(PyEval_SaveThread()) {
        ++n_running;
        if (must_end()) rest();
    }
    ~NativeWork() {
        if (must_end()) rest();
        PyEval_RestoreThread(state_);
        --n_running;
    }
    NativeWork(const NativeWork&) = delete;
    NativeWork& operator=(const NativeWork&) = delete;

    // Whether this thread, which has released the GIL, must not ask for it again.
    static bool must_end() { return is_closing && closer != std::this_thread::get_id(); }

    static void close() {
        closer = std::this_thread::get_id();
        is_closing = true;
        const nb::gil_scoped_release waiting;
        while (n_running > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    static bool closing() { return is_closing; }
    // After a fork, other threads and their work are not there.
    static void forget_others() { n_running = 0; }

  private:
    [[noreturn]] static void rest() {
        --n_running;
        for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
    }

    static inline std::atomic<bool> is_closing{false};
    static inline std::atomic<long> n_running{0};
    static inline std::thread::id closer;
    PyThreadState* const state_;
};

// The result of the work, which runs without the GIL.
template <class Work>
auto without_gil(Work work) {
    const NativeWork guard;
    return work();
}

// A new matrix, which fill(data) fills without the GIL.
template <class T, class Fill>
nb::object filled_matrix(std::size_t n_rows, std::size_t n_columns, Fill fill) {
    auto [data, array] = new_matrix<T>(n_rows, n_columns);
    without_gil([&, out = data] { fill(out); });
    return array;
}

}  // namespace sketchforest
