// How growth is stopped from outside, and what all growers give back.
#pragma once

#include <atomic>
#include <chrono>
#include <cstring>

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
        // Small nodes do not look at the clock, which would take as long as some of them.
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

template <class Row>
nb::object rows_array(const std::vector<Row>& rows) {
    auto [data, array] = new_matrix<std::int32_t>(rows.size(), sizeof(Row) / sizeof(std::int32_t));
    if (!rows.empty()) std::memcpy(data, rows.data(), rows.size() * sizeof(Row));
    return array;
}

// Nodes, thresholds, gains, starts of leaves, positions of their members in the bag, parts, depth.
inline nb::tuple to_tuple(Tree& tree) {
    return nb::make_tuple(rows_array(tree.nodes), to_array(std::move(tree.wide_thresholds)),
                          to_array(std::move(tree.gains)), to_array(std::move(tree.leaf_start)),
                          to_array<std::int32_t>(std::move(tree.members)), rows_array(tree.parts),
                          tree.depth);
}

}  // namespace sketchforest
