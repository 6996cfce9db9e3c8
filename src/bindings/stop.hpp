// Stops long work from outside.
#pragma once

#include <atomic>
#include <chrono>

#include "arrays.hpp"
#include "native_work.hpp"

namespace sketchforest {

struct StopFlag {
    std::atomic<bool> is_set{false};
};

// Stops when the flag is set, or when Python has a signal to handle (Ctrl-C, in the main thread).
class PythonStop final : public Stop {
  public:
    explicit PythonStop(const StopFlag& flag) : flag_(flag) {}

    bool requested(std::size_t n_rows) override {
        if (flag_.is_set.load(std::memory_order_relaxed) || NativeWork::must_end()) return true;
        // Skip the clock for small nodes: reading it would take as long as some of them.
        n_rows_ += n_rows;
        if (n_rows_ < 4096) return signalled_;
        n_rows_ = 0;
        const auto now = Clock::now();
        if (now - asked_ < std::chrono::milliseconds(50)) return signalled_;
        asked_ = now;
        nb::gil_scoped_acquire gil;
        return signalled_ = PyErr_CheckSignals() != 0;
    }
    bool signalled() const { return signalled_; }

  private:
    using Clock = std::chrono::steady_clock;
    const StopFlag& flag_;
    std::size_t n_rows_ = 0;
    Clock::time_point asked_ = Clock::now();
    bool signalled_ = false;
};

// What work(stop) gives, without the GIL; what a signal raises in Python, where one was heard.
template <class Work>
auto unless_stopped(const StopFlag& flag, Work work) {
    PythonStop stop(flag);
    auto result = without_gil([&] { return work(stop); });
    if (stop.signalled()) throw nb::python_error();
    return result;
}

}  // namespace sketchforest
