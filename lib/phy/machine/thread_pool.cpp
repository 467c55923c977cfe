#include "phy/machine/thread_pool.hpp"

#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <exception>
#include <limits>
#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

using std::chrono::microseconds;

// Fields of the gate, from the lowest bit: number of workers inside, two flags, number of the job.
constexpr std::uint32_t inside_mask = (1U << 12) - 1;
constexpr std::uint32_t open_flag = 1U << 12;
constexpr std::uint32_t awaited_flag = 1U << 13;
constexpr std::uint32_t one_job = 1U << 14;

constexpr std::uint32_t job_number(std::uint32_t gate) {
    return gate / one_job;
}

constexpr microseconds lookout{100};
constexpr microseconds stay{5};  // a yield to a busy thread costs a whole time slice
constexpr microseconds caller_spins{20};
constexpr int pauses_of_lookout = 16;
constexpr int pauses_of_caller = 64;

// A worker on the caller's processor would only take time from the caller, so it yields until one of them
// moves. If its yields return this often, the processor is free or the job is long.
constexpr int max_waits = 16;

// Each woken worker wakes as many others, so the caller soon returns to its items.
constexpr std::uint32_t woken_at_a_time = 2;

// A wake-up costs the caller some microseconds. After useless ones it works for min_patience to max_patience
// before the next.
constexpr microseconds min_patience{20};
constexpr microseconds max_patience{640};

// Not std::atomic::wait(): it yields before it sleeps, and a yield may cost a whole time slice.
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

/// Sleeps until futex_wake() on the same word, unless the word differs from expected. May wake spuriously.
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

/// Wakes at most this many threads that sleep on the word.
void futex_wake(const std::atomic<std::uint32_t>& word, std::uint32_t threads) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

void relax(int times) {
    for (int n = 0; n < times; ++n) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__)
        asm volatile("yield");
#endif
    }
}

}  // namespace

/// A caller's record of waking workers during one job.
struct ThreadPool::Waking {
    bool done = false;
    bool timed = false;
    std::size_t items = 0;
    Clock::time_point last_look;
};

/// A worker's own state.
struct ThreadPool::Worker {
    std::size_t part;
    Clock::time_point idle_since;
    std::uint32_t last_job = 0;     ///< last job that it joined or that needed no more workers
    std::uint32_t awaited_job = 0;  ///< job that it stays out of for now
    int waits = 0;                  ///< in awaited_job
    bool of_use = true;             ///< it has taken an item since it last slept
};

ThreadPool::ThreadPool(int threads) : ranges_(static_cast<std::size_t>(threads)) {
    try {
        workers_.reserve(ranges_.size() - 1);
        for (std::size_t part = 1; part < ranges_.size(); ++part)
            workers_.emplace_back([this, part] { work(part); });
    } catch (const std::exception& reason) {
        stop();
        throw Error(std::to_string(threads) + " threads cannot be started: " + reason.what());
    }
}

ThreadPool::~ThreadPool() {
    stop();
}

void ThreadPool::stop() {
    stopping_ = true;
    wake(std::numeric_limits<std::int32_t>::max());
    for (std::thread& worker : workers_)
        worker.join();
}

bool ThreadPool::begin_sharing(std::size_t items) {
    // The other callers' threads keep as many processors busy.
    const std::uint32_t others = callers_.fetch_add(1, std::memory_order_relaxed);
    if (others >= workers_.size() || busy_.load(std::memory_order_relaxed) ||
        busy_.exchange(true, std::memory_order_acquire))
        return false;
    const std::size_t useful = std::min(items - 1, workers_.size() - others);
    useful_workers_.store(static_cast<std::uint32_t>(useful), std::memory_order_relaxed);
    return true;
}

void ThreadPool::share(std::size_t items, ErasedJob job) {
    job_ = job;
    cut(items);
    note_processor();
    open();
    Waking waking;
    take_items(0, [&] {
        note_processor();
        consider_waking(waking);
    });
    close();
    if (waking.timed && !waking.done) worked_ += Clock::now() - waking.last_look;
    busy_.store(false, std::memory_order_release);
}

void ThreadPool::cut(std::size_t items) {
    const std::size_t share = items / ranges_.size();
    const std::size_t longer = items % ranges_.size();
    std::size_t begin = 0;
    for (std::size_t part = 0; part < ranges_.size(); ++part) {
        const std::size_t end = begin + share + (part < longer ? 1 : 0);
        ranges_[part].next.store(begin, std::memory_order_relaxed);
        ranges_[part].end = end;
        begin = end;
    }
}

template <typename BeforeItem>
bool ThreadPool::take_items(std::size_t part, const BeforeItem& before_item) {
    const ErasedJob job = job_;
    bool any = false;
    std::size_t owner = part;
    for (std::size_t looked = 0; looked < ranges_.size(); ++looked) {
        Range& range = ranges_[owner];
        while (range.next.load(std::memory_order_relaxed) < range.end) {
            const std::size_t item = range.next.fetch_add(1, std::memory_order_relaxed);
            if (item >= range.end) break;
            any = true;
            before_item();
            job.call(job.job, static_cast<int>(part), item);
        }
        if (++owner == ranges_.size()) owner = 0;
    }
    return any;
}

void ThreadPool::open() {
    // No other thread writes to the gate while it is closed and no worker is inside.
    const std::uint32_t next = job_number(gate_.load(std::memory_order_relaxed)) + 1;
    gate_.store(next * one_job | open_flag, std::memory_order_release);
}

void ThreadPool::close() {
    std::uint32_t gate = gate_.fetch_and(~open_flag, std::memory_order_acq_rel) & ~open_flag;
    if ((gate & inside_mask) == 0) return;
    const auto start = Clock::now();
    do {
        relax(pauses_of_caller);
        if ((gate_.load(std::memory_order_acquire) & inside_mask) == 0) return;
    } while (Clock::now() - start < caller_spins);
    // A worker inside may be waiting for this very processor.
    gate = gate_.fetch_or(awaited_flag, std::memory_order_acq_rel) | awaited_flag;
    while ((gate & inside_mask) != 0) {
        futex_wait(gate_, gate);
        gate = gate_.load(std::memory_order_acquire);
    }
}

void ThreadPool::note_processor() {
    const int processor = sched_getcpu();
    if (processor_of_caller_.load(std::memory_order_relaxed) != processor)
        processor_of_caller_.store(processor, std::memory_order_relaxed);
}

void ThreadPool::consider_waking(Waking& waking) {
    const std::uint32_t sleepers = sleepers_.load(std::memory_order_relaxed);
    if (sleepers == 0 || waking.done) return;
    const auto awake = static_cast<std::uint32_t>(workers_.size()) - sleepers;
    const std::uint32_t useful = useful_workers_.load(std::memory_order_relaxed);
    if (awake >= useful) return;
    if (const auto patience = patience_.load(std::memory_order_relaxed); patience > Clock::duration(0)) {
        // Not before every item: reading the clock takes tens of nanoseconds.
        if (++waking.items; !std::has_single_bit(waking.items)) return;
        const auto now = Clock::now();
        if (waking.timed) worked_ += now - waking.last_look;
        waking.timed = true;
        waking.last_look = now;
        if (worked_ < patience) return;
    }
    waking.done = true;
    worked_ = Clock::duration(0);
    wake(std::min(useful - awake, woken_at_a_time));
}

void ThreadPool::wake(std::uint32_t workers) {
    wakes_.fetch_add(1);
    futex_wake(wakes_, workers);
}

void ThreadPool::work(std::size_t part) {
    Worker worker{part, Clock::now()};
    while (!stopping_.load(std::memory_order_relaxed)) {
        const std::uint32_t gate = gate_.load(std::memory_order_acquire);
        if ((gate & open_flag) != 0 && job_number(gate) != worker.last_job) {
            if ((gate & inside_mask) >= useful_workers_.load(std::memory_order_relaxed)) {
                worker.last_job = job_number(gate);
            } else if (must_wait(worker, job_number(gate))) {
                sched_yield();
            } else {
                help(worker, gate);
            }
        } else if (const auto idle = Clock::now() - worker.idle_since; idle < lookout) {
            relax(pauses_of_lookout);
            if (idle > stay && gate_.load(std::memory_order_relaxed) == gate) sched_yield();
        } else {
            sleep(worker);
        }
    }
}

bool ThreadPool::must_wait(Worker& worker, std::uint32_t job) const {
    if (worker.awaited_job != job) worker.waits = 0;
    worker.awaited_job = job;
    const int processor = sched_getcpu();
    return processor >= 0 && processor == processor_of_caller_.load(std::memory_order_relaxed) &&
           worker.waits++ < max_waits;
}

void ThreadPool::help(Worker& worker, std::uint32_t gate) {
    if (!gate_.compare_exchange_weak(gate, gate + 1, std::memory_order_acquire, std::memory_order_relaxed))
        return;
    worker.last_job = job_number(gate);
    if (!worker.of_use) wake_others((gate & inside_mask) + 1);
    const bool of_use = take_items(worker.part, [] {});
    leave();
    if (of_use && !worker.of_use) note_use(worker);
    worker.idle_since = Clock::now();
}

// Lost updates of patience_, here and below, are harmless.
void ThreadPool::note_use(Worker& worker) {
    worker.of_use = true;
    const Clock::duration patience = patience_.load(std::memory_order_relaxed) / 2;
    patience_.store(patience < min_patience ? Clock::duration(0) : patience, std::memory_order_relaxed);
}

void ThreadPool::note_no_use() {
    const Clock::duration patience = 2 * patience_.load(std::memory_order_relaxed);
    patience_.store(std::clamp<Clock::duration>(patience, min_patience, max_patience),
                    std::memory_order_relaxed);
}

void ThreadPool::leave() {
    const std::uint32_t before = gate_.fetch_sub(1, std::memory_order_release);
    if ((before & (awaited_flag | inside_mask)) == (awaited_flag | 1U)) futex_wake(gate_, 1);
}

void ThreadPool::wake_others(std::uint32_t inside) {
    const std::uint32_t useful = useful_workers_.load(std::memory_order_relaxed);
    if (inside < useful && sleepers_.load(std::memory_order_relaxed) > 0)
        wake(std::min(useful - inside, woken_at_a_time));
}

void ThreadPool::sleep(Worker& worker) {
    if (!worker.of_use) note_no_use();
    const std::uint32_t wakes = wakes_.load();
    if (stopping_.load()) return;  // the wake-up may have come before this
    sleepers_.fetch_add(1, std::memory_order_relaxed);
    futex_wait(wakes_, wakes);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
    worker.of_use = false;
    worker.idle_since = Clock::now();
}

}  // namespace phy::detail
