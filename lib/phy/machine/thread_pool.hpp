#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <vector>

#include "phy/core/export.hpp"

namespace phy::detail {

/// A fixed number of threads that share short jobs: the caller and its workers. Workers look for the next job
/// for about 100 microseconds after the last one, so that back-to-back calls cost about a microsecond each.
/// They yield their processor while they look. After that they sleep.
class ThreadPool {
public:
    /// threads counts the caller and is at least 1. Throws Error if they cannot be started.
    PHY_EXPORT explicit ThreadPool(int threads);
    PHY_EXPORT ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;  // workers hold a reference
    ThreadPool& operator=(const ThreadPool&) = delete;

    [[nodiscard]] int size() const { return static_cast<int>(ranges_.size()); }

    /// Calls job(part, item) once per item, from 0 to items - 1, and returns when all calls have returned.
    /// part (from 0 to size() - 1) differs between calls that run at the same time within one for_each():
    /// operators index their workspaces by it. Each part has a range of the items, so a thread gets the same
    /// items again in the next call with as many. A thread that has finished its range takes items from other
    /// ranges.
    ///
    /// The caller never waits for a worker that has not started: if all workers sleep, it does all items
    /// itself. Several threads may call for_each() at the same time, and a job may call it too. While the
    /// pool works for one caller, other callers do all their items alone, as part 0. With as many callers as
    /// threads, all work alone. The job must not throw. for_each() allocates nothing.
    template <typename Job>
    void for_each(std::size_t items, const Job& job) {
        static_assert(std::is_nothrow_invocable_v<const Job&, int, std::size_t>);
        const bool many = items > 1 && size() > 1;
        if (many && begin_sharing(items)) {
            const auto call = [](const void* erased, int part, std::size_t item) noexcept {
                (*static_cast<const Job*>(erased))(part, item);
            };
            share(items, {call, &job});
        } else {
            for (std::size_t item = 0; item < items; ++item)
                job(0, item);
        }
        if (many) callers_.fetch_sub(1, std::memory_order_relaxed);
    }

private:
    using Clock = std::chrono::steady_clock;

    struct ErasedJob {
        void (*call)(const void*, int, std::size_t) noexcept = nullptr;
        const void* job = nullptr;
    };

    /// The items of a part that no thread has taken.
    struct alignas(64) Range {
        std::atomic<std::size_t> next{0};
        std::size_t end = 0;
    };

    struct Waking;
    struct Worker;

    /// Counts the caller. Locks the pool for it and returns true if workers can help.
    PHY_EXPORT bool begin_sharing(std::size_t items);
    PHY_EXPORT void share(std::size_t items, ErasedJob job);
    void cut(std::size_t items);
    template <typename BeforeItem>
    bool take_items(std::size_t part, const BeforeItem& before_item);
    void open();
    void close();
    void note_processor();
    void consider_waking(Waking& waking);
    void wake(std::uint32_t workers);

    void work(std::size_t part);
    bool must_wait(Worker& worker, std::uint32_t job) const;
    void help(Worker& worker, std::uint32_t gate);
    void leave();
    void wake_others(std::uint32_t inside);
    void note_use(Worker& worker);
    void note_no_use();
    void sleep(Worker& worker);
    void stop();

    std::vector<Range> ranges_;
    std::vector<std::thread> workers_;

    // The job. The caller that holds the lock writes it before it opens the gate.
    ErasedJob job_;
    std::atomic<std::uint32_t> useful_workers_{0};
    Clock::duration worked_{0};  ///< by callers, since workers were last woken

    std::atomic<bool> stopping_{false};
    alignas(64) std::atomic<bool> busy_{false};
    std::atomic<std::uint32_t> callers_{0};

    /// Controls access to the job: its number, whether workers may enter, whether the caller sleeps until
    /// they have left, and how many are inside.
    alignas(64) std::atomic<std::uint32_t> gate_{0};

    alignas(64) std::atomic<std::uint32_t> sleepers_{0};
    std::atomic<std::uint32_t> wakes_{0};  ///< changes with every wake-up
    std::atomic<Clock::duration> patience_{Clock::duration(0)};
    std::atomic<int> processor_of_caller_{-1};
};

}  // namespace phy::detail
