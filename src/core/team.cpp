#include "team.hpp"

#include <exception>
#include <utility>

namespace sketchforest {

Team::Team(std::size_t n_threads) {
    try {
        while (size() < std::min(n_threads, most)) threads_.emplace_back([this] { help(); });
    } catch (const std::exception&) {  // no more threads or memory: go on with fewer
    }
}

Team::~Team() {
    {
        const std::lock_guard lock(mutex_);
        is_over_ = true;
    }
    begins_.notify_all();
    for (std::thread& thread : threads_) thread.join();
}

void Team::run(std::size_t n_tasks, const std::function<void(std::size_t)>& work) {
    if (threads_.empty() || n_tasks == 1) {
        for (std::size_t task = 0; task < n_tasks; ++task) work(task);
        return;
    }
    {
        const std::lock_guard lock(mutex_);
        work_ = &work;
        n_tasks_ = n_tasks;
        next_ = 0;
        n_busy_ = threads_.size();
        ++round_;
    }
    begins_.notify_all();
    take_tasks();
    std::unique_lock lock(mutex_);
    ends_.wait(lock, [this] { return n_busy_ == 0; });
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::help() {
    std::size_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
        begins_.wait(lock, [&] { return is_over_ || round_ != seen; });
        if (is_over_) return;
        seen = round_;
        lock.unlock();
        take_tasks();
        lock.lock();
        if (--n_busy_ == 0) ends_.notify_one();
    }
}

void Team::take_tasks() {
    try {
        for (std::size_t task = next_++; task < n_tasks_; task = next_++) (*work_)(task);
    } catch (...) {
        next_ = n_tasks_;  // no task starts after an error
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
    }
}

}  // namespace sketchforest
