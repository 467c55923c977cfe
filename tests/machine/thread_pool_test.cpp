#include "phy/machine/thread_pool.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "support/one_processor.hpp"
#include "support/random_seed.hpp"

namespace {

using phy::detail::ThreadPool;

/// How often each item was met.
class Tally {
public:
    explicit Tally(std::size_t items) : calls_(items) {}
    void add(std::size_t item) { calls_.at(item).fetch_add(1, std::memory_order_relaxed); }
    [[nodiscard]] bool every_item_once() const {
        for (const std::atomic<int>& calls : calls_) {
            if (calls.load(std::memory_order_relaxed) != 1) return false;
        }
        return true;
    }

private:
    std::vector<std::atomic<int>> calls_;
};

bool meets_every_item_once(ThreadPool& pool, std::size_t items) {
    Tally tally(items);
    pool.for_each(items, [&](int, std::size_t item) noexcept { tally.add(item); });
    return tally.every_item_once();
}

void sleep_for_microseconds(int time) {
    std::this_thread::sleep_for(std::chrono::microseconds(time));
}

/// Keeps a thread busy without giving up its processor.
void work_for_microseconds(int time) {
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::microseconds(time)) {
    }
}

TEST(ThreadPool, MeetsEveryItemOnce) {
    for (const int threads : {1, 2, 3, 4, 7, 16}) {
        ThreadPool pool(threads);
        EXPECT_EQ(pool.size(), threads);
        for (const std::size_t items : {0U, 1U, 2U, 3U, 4U, 5U, 8U, 15U, 16U, 17U, 100U, 1000U, 100'000U}) {
            for (int again = 0; again < 10; ++again)
                ASSERT_TRUE(meets_every_item_once(pool, items))
                    << items << " items, " << threads << " threads";
        }
    }
}

TEST(ThreadPool, MeetsEveryItemOnceAtRandom) {
    const unsigned seed = phy_test::random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int pools = 0; pools < 20; ++pools) {
        ThreadPool pool(std::uniform_int_distribution(1, 9)(random));
        for (int calls = 0; calls < 50; ++calls) {
            const std::size_t items = std::uniform_int_distribution<std::size_t>(0, 40)(random);
            const int before = std::uniform_int_distribution(0, 150)(random);  // so that some workers sleep
            const int longest = std::uniform_int_distribution(0, 20)(random);
            Tally tally(items);
            if (before > 75) sleep_for_microseconds(before);
            pool.for_each(items, [&](int, std::size_t item) noexcept {
                work_for_microseconds(static_cast<int>(item) % (longest + 1));
                tally.add(item);
            });
            ASSERT_TRUE(tally.every_item_once()) << items << " items, " << pool.size() << " threads";
        }
    }
}

TEST(ThreadPool, WritesOfAllThreadsAreSeenAfterwards) {
    ThreadPool pool(3);
    std::vector<std::size_t> values(1000);
    for (std::size_t call = 1; call <= 200; ++call) {
        pool.for_each(values.size(), [&](int, std::size_t item) noexcept { values[item] += item * call; });
        for (std::size_t item = 0; item < values.size(); ++item)
            ASSERT_EQ(values[item], item * call * (call + 1) / 2);
    }
}

TEST(ThreadPool, RunningCallsShareNoPart) {
    ThreadPool pool(5);
    std::vector<std::atomic<int>> users(5);
    std::vector<long> workspaces(5);
    std::atomic<bool> shared = false;
    for (int call = 0; call < 300; ++call) {
        pool.for_each(20, [&](int part, std::size_t) noexcept {
            const auto place = static_cast<std::size_t>(part);
            if (users.at(place).fetch_add(1) != 0) shared = true;
            ++workspaces[place];
            work_for_microseconds(2);
            users[place].fetch_sub(1);
        });
    }
    EXPECT_FALSE(shared);
    long calls = 0;
    for (const long of_part : workspaces)
        calls += of_part;
    EXPECT_EQ(calls, 300 * 20);
}

TEST(ThreadPool, CallerAloneMeetsItemsInOrder) {
    ThreadPool pool(1);
    std::vector<std::size_t> met;
    pool.for_each(100, [&](int part, std::size_t item) noexcept {
        EXPECT_EQ(part, 0);
        met.push_back(item);
    });
    for (std::size_t item = 0; item < met.size(); ++item)
        EXPECT_EQ(met[item], item);
    EXPECT_EQ(met.size(), 100U);
}

TEST(ThreadPool, OneItemRunsOnTheCaller) {
    ThreadPool pool(4);
    for (int call = 0; call < 100; ++call) {
        pool.for_each(1, [caller = std::this_thread::get_id()](int part, std::size_t item) noexcept {
            EXPECT_EQ(std::this_thread::get_id(), caller);
            EXPECT_EQ(part, 0);
            EXPECT_EQ(item, 0U);
        });
    }
}

TEST(ThreadPool, ServesManyShortJobs) {
    ThreadPool pool(3);
    std::atomic<std::size_t> calls = 0;
    for (std::size_t job = 0; job < 100'000; ++job) {
        const std::size_t items = 2 + job % 5;
        const std::size_t before = calls.load(std::memory_order_relaxed);
        // A worker that came late would write to what is gone.
        const auto local = std::make_unique<std::atomic<std::size_t>>(0);
        pool.for_each(items, [&calls, counter = local.get()](int, std::size_t) noexcept {
            calls.fetch_add(1, std::memory_order_relaxed);
            counter->fetch_add(1, std::memory_order_relaxed);
        });
        ASSERT_EQ(local->load(std::memory_order_relaxed), items);
        ASSERT_EQ(calls.load(std::memory_order_relaxed), before + items);
    }
}

TEST(ThreadPool, ServesSeveralCallersAtATime) {
    ThreadPool pool(3);
    std::atomic<int> failures = 0;
    std::vector<std::thread> callers;
    for (std::size_t caller = 0; caller < 4; ++caller) {
        callers.emplace_back([&, caller] {
            for (std::size_t call = 0; call < 2000; ++call) {
                if (!meets_every_item_once(pool, (caller + call) % 50)) ++failures;
            }
        });
    }
    for (std::thread& caller : callers)
        caller.join();
    EXPECT_EQ(failures, 0);
}

TEST(ThreadPool, WorksForOneCallerWhileItServesAnother) {
    ThreadPool pool(2);
    std::atomic<bool> served = false;
    std::thread other;
    // Neither item returns before the other caller is served: that one may wait for nobody.
    pool.for_each(2, [&](int, std::size_t item) noexcept {
        if (item == 0) {
            other = std::thread([&] {
                EXPECT_TRUE(meets_every_item_once(pool, 10));
                served = true;
            });
        }
        while (!served)
            std::this_thread::yield();
    });
    other.join();
}

TEST(ThreadPool, JobsMayCallThePool) {
    ThreadPool pool(3);
    for (int call = 0; call < 100; ++call) {
        Tally tally(20 * 30);
        pool.for_each(20, [&](int, std::size_t outer) noexcept {
            pool.for_each(30, [&](int part, std::size_t inner) noexcept {
                if (part == 0) tally.add(30 * outer + inner);
            });
        });
        ASSERT_TRUE(tally.every_item_once());
    }
}

TEST(ThreadPool, WorkersHelpWithLongJobs) {
    ThreadPool pool(2);
    for (int call = 0; call < 3; ++call) {
        std::atomic<bool> helped = false;
        // The caller's items end when the worker has had one: without its help this test never ends.
        pool.for_each(2, [&](int part, std::size_t) noexcept {
            if (part == 1) helped = true;
            while (!helped)
                std::this_thread::yield();
        });
        EXPECT_TRUE(helped);
        sleep_for_microseconds(2000);  // the worker goes to sleep
    }
}

TEST(ThreadPool, WorksOnOneProcessor) {
    const auto work = [] {
        ThreadPool pool(3);
        for (int call = 0; call < 1000; ++call)
            ASSERT_TRUE(meets_every_item_once(pool, 20));
    };
    if (!phy_test::on_one_processor(work)) GTEST_SKIP() << "a thread cannot be pinned to one processor here";
}

TEST(ThreadPool, EndsAtAnyTime) {
    const unsigned seed = phy_test::random_seed();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> times(0, 250);
    for (int pools = 0; pools < 300; ++pools) {
        ThreadPool pool(1 + pools % 5);
        if (pools % 3 == 0) sleep_for_microseconds(times(random));
        if (pools % 2 == 0) {
            ASSERT_TRUE(meets_every_item_once(pool, 8));
        }
        if (pools % 7 == 0) work_for_microseconds(times(random));
    }
}

}  // namespace
