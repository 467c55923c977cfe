#include "phy/core/thread_pool.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

// A caller that spun in vain sleeps, since a worker may be waiting for this very processor.
constexpr std::chrono::microseconds worker_spins{100};
constexpr std::chrono::microseconds caller_spins{50};

void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

/// Waits for done() without giving up the processor, for a limited time. Returns what done() last said.
template <typename Done>
bool spin_until(const Done& done, std::chrono::microseconds limit) {
    constexpr int spins_between_looks_at_the_clock = 64;
    const auto start = std::chrono::steady_clock::now();
    do {
        for (int spin = 0; spin < spins_between_looks_at_the_clock; ++spin) {
            if (done()) return true;
            relax();
        }
    } while (std::chrono::steady_clock::now() - start < limit);
    return false;
}

int processors() {
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace

ThreadPool::ThreadPool(int threads) {
    const int workers = (threads == 0 ? processors() : threads) - 1;
    try {
        workers_.reserve(static_cast<std::size_t>(workers));
        for (int part = 1; part <= workers; ++part)
            workers_.emplace_back([this, part] { work(part); });
    } catch (const std::exception& reason) {
        stop();
        throw Error(std::to_string(workers + 1) + " threads cannot be started: " + reason.what());
    }
}

ThreadPool::~ThreadPool() {
    stop();
}

void ThreadPool::stop() {
    stopping_ = true;
    generation_.fetch_add(1);
    generation_.notify_all();
    for (std::thread& worker : workers_)
        worker.join();
}

void ThreadPool::run_erased(ErasedJob call, const void* job, int parts) {
    call_ = call;
    job_ = job;
    parts_ = parts;
    running_.store(static_cast<int>(workers_.size()), std::memory_order_relaxed);
    generation_.fetch_add(1);
    generation_.notify_all();
    call(job, 0);
    const auto all_done = [&] { return running_.load(std::memory_order_acquire) == 0; };
    if (spin_until(all_done, caller_spins)) return;
    for (int left = running_.load(std::memory_order_acquire); left != 0; left = running_.load())
        running_.wait(left);
}

std::size_t ThreadPool::wait_for_job(std::size_t seen) const {
    const auto changed = [&] { return generation_.load(std::memory_order_acquire) != seen; };
    if (spin_until(changed, worker_spins)) return generation_.load(std::memory_order_acquire);
    generation_.wait(seen);
    return generation_.load();
}

void ThreadPool::work(int part) {
    for (std::size_t generation = 0;;) {
        generation = wait_for_job(generation);
        if (stopping_) return;
        if (part < parts_) call_(job_, part);
        if (running_.fetch_sub(1, std::memory_order_acq_rel) == 1) running_.notify_one();
    }
}

}  // namespace phy::detail
