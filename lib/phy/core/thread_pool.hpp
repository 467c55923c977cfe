#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <type_traits>
#include <vector>

namespace phy::detail {

/// A fixed number of threads that share short jobs: the caller is one of them. Workers spin for a
/// hundred microseconds after a job, so that back-to-back calls cost about a microsecond each, and sleep
/// after that.
class ThreadPool {
public:
    /// threads >= 1 counts the caller; 0 stands for one a processor. Throws Error if they cannot be started.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;  // workers refer to it
    ThreadPool& operator=(const ThreadPool&) = delete;

    [[nodiscard]] int size() const { return static_cast<int>(workers_.size()) + 1; }

    /// Calls job(part) once for every part from 0 to parts - 1 <= size() - 1, each on a thread of its own,
    /// and returns when all have returned. One part runs on the caller alone. The job must not throw.
    /// Allocates nothing.
    template <typename Job>
    void run(int parts, const Job& job) {
        static_assert(std::is_nothrow_invocable_v<const Job&, int>);
        if (parts == 1) {
            job(0);
        } else if (parts > 1) {
            run_erased(
                [](const void* erased, int part) noexcept { (*static_cast<const Job*>(erased))(part); }, &job,
                parts);
        }
    }

private:
    using ErasedJob = void (*)(const void*, int) noexcept;

    void run_erased(ErasedJob call, const void* job, int parts);
    void work(int part);
    void stop();
    std::size_t wait_for_job(std::size_t seen) const;

    ErasedJob call_ = nullptr;
    const void* job_ = nullptr;
    int parts_ = 0;
    std::atomic<std::size_t> generation_{0};
    std::atomic<int> running_{0};
    std::atomic<bool> stopping_{false};
    std::vector<std::thread> workers_;
};

}  // namespace phy::detail
