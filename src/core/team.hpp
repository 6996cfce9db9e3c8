// The rows of a large node in pieces, which the threads of a tree share.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sketchforest {

// Threads that wait for work as long as a tree grows. There may be fewer than were asked for, and
// no more than nodes have pieces for: users ask for thousands.
class Team {
  public:
    static constexpr std::size_t most = 256;

    explicit Team(std::size_t n_threads);
    ~Team();
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;

    std::size_t size() const { return threads_.size() + 1; }

    // work(task) for each task, on any thread, in any order. Throws the first error when no thread
    // is at work any more.
    void run(std::size_t n_tasks, const std::function<void(std::size_t)>& work);

  private:
    void help();
    void take_tasks();

    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable begins_, ends_;
    const std::function<void(std::size_t)>* work_ = nullptr;
    std::size_t n_tasks_ = 0;
    std::atomic<std::size_t> next_{0};
    std::exception_ptr error_;
    std::size_t n_busy_ = 0, round_ = 0;
    bool is_over_ = false;
};

// How rows are cut into pieces depends on their number alone, so that what is added up piece by
// piece has the same bits on any number of threads.
class Pieces {
  public:
    static constexpr std::size_t most = 64;

    // Pieces of `piece_rows` or more; one piece where that is 0.
    Pieces(std::size_t n_rows, std::size_t piece_rows, Team& team) : n_rows_(n_rows), team_(&team) {
        if (piece_rows) count_ = std::clamp<std::size_t>(n_rows / piece_rows, 1, most);
    }

    // The same rows in fewer pieces.
    Pieces at_most(std::size_t count) const {
        Pieces fewer = *this;
        fewer.count_ = std::min(count_, count);
        return fewer;
    }

    std::size_t count() const { return count_; }
    std::size_t begin(std::size_t piece) const { return piece * n_rows_ / count_; }
    Team& team() const { return *team_; }

    // work(piece, begin, end)
    template <class Work>
    void each(Work work) const {
        if (count_ == 1) return work(std::size_t{0}, std::size_t{0}, n_rows_);
        team_->run(count_, [&](std::size_t piece) { work(piece, begin(piece), begin(piece + 1)); });
    }

    // The sum of `start` and of what work(begin, end, sum) adds to a sum.
    template <class Work>
    double sum(double start, Work work) const {
        double sums[most];
        each([&](std::size_t piece, std::size_t first, std::size_t end) {
            sums[piece] = work(first, end, piece == 0 ? start : 0.0);
        });
        double total = sums[0];
        for (std::size_t piece = 1; piece < count_; ++piece) total += sums[piece];
        return total;
    }

    // Adds up what work(piece, begin, end, out) writes into `width` numbers.
    template <class T, class Vector, class Work>
    void add_up(std::size_t width, T* out, Vector& scratch, Work work) const {
        if (count_ == 1) return work(std::size_t{0}, std::size_t{0}, n_rows_, out);
        if (scratch.size() < count_ * width) scratch.resize(count_ * width);
        each([&](std::size_t piece, std::size_t first, std::size_t end) {
            work(piece, first, end, scratch.data() + piece * width);
        });
        constexpr std::size_t block = 4096;
        team_->run((width + block - 1) / block, [&](std::size_t task) {
            const std::size_t first = task * block, end = std::min(first + block, width);
            std::copy(scratch.data() + first, scratch.data() + end, out + first);
            for (std::size_t piece = 1; piece < count_; ++piece)
                for (std::size_t i = first; i < end; ++i) out[i] += scratch[piece * width + i];
        });
    }

  private:
    std::size_t n_rows_;
    std::size_t count_ = 1;
    Team* team_;
};

}  // namespace sketchforest
