// What the thread pool of a host costs and brings: medians of back-to-back jobs of about 30 us, with as many
// processors as the process has and with one, as JSON. Usage: host_bench

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "bench/turns.hpp"
#include "phy/machine/host.hpp"
#include "phy/machine/thread_pool.hpp"

namespace {

using phy::detail::ThreadPool;

/// Max-log soft bits of noisy 256QAM, one component after the other, summed over several receptions. Input
/// and output lie in the second-level cache.
class Job {
public:
    explicit Job(unsigned seed) : in_(receptions * components), out_(4 * components) {
        std::mt19937 random(seed);
        std::uniform_int_distribution<int> level(0, 15);
        std::normal_distribution<float> noise(0.0F, 0.05F);
        for (float& value : in_)
            value = static_cast<float>(2 * level(random) - 15) * unit + noise(random);
    }

    void run_on(ThreadPool& pool) {
        pool.for_each(items, [this](int /*part*/, std::size_t item) noexcept { run(item); });
    }

private:
    static constexpr std::size_t receptions = 4;
    static constexpr std::size_t items = 16;
    static constexpr std::size_t item_size = 512;
    static constexpr std::size_t components = items * item_size;
    static constexpr float unit = 1.0F / 13.04F;

    void run(std::size_t item) {
        float* const out = out_.data() + 4 * item * item_size;
        std::fill_n(out, 4 * item_size, 0.0F);
        for (std::size_t reception = 0; reception < receptions; ++reception)
            add(in_.data() + reception * components + item * item_size, out);
    }

    static void add(const float* in, float* out) {
        constexpr float scale = 400.0F;
        for (std::size_t n = 0; n < item_size; ++n) {
            const float second = 8 * unit - std::fabs(in[n]);
            const float third = 4 * unit - std::fabs(second);
            out[n] += in[n] * scale;
            out[n + item_size] += second * scale;
            out[n + 2 * item_size] += third * scale;
            out[n + 3 * item_size] += (2 * unit - std::fabs(third)) * scale;
        }
    }

    std::vector<float> in_;
    std::vector<float> out_;
};

constexpr std::chrono::microseconds a_millisecond{1000};

/// That many callers of one pool, each with a job of its own.
std::vector<std::function<void()>> callers_of(ThreadPool& pool, std::size_t callers = 1) {
    static std::array<Job, 4> jobs = {Job(100), Job(101), Job(102), Job(103)};
    std::vector<std::function<void()>> all;
    for (std::size_t n = 0; n < callers; ++n)
        all.emplace_back([&pool, n] { jobs[n].run_on(pool); });
    return all;
}

}  // namespace

int main() {
    using phy::bench::measure_and_print;
    const phy::Host one({.threads = 1});
    const phy::Host two({.threads = 2});
    const phy::Host all({.threads = 0});
    phy::bench::print_context({{"threads", all.threads()}});
    measure_and_print("whole process",
                      {{"1 thread", callers_of(one.pool())},
                       {"2 threads", callers_of(two.pool())},
                       {"all threads", callers_of(all.pool())},
                       {"1 thread, a call a millisecond", callers_of(one.pool()), a_millisecond},
                       {"2 threads, a call a millisecond", callers_of(two.pool()), a_millisecond},
                       {"4 callers at a time, 1 thread", callers_of(one.pool(), 4)},
                       {"4 callers at a time, 2 threads", callers_of(two.pool(), 4)},
                       {"4 callers at a time, all threads", callers_of(all.pool(), 4)}});
    phy::bench::pin_all_threads();
    const phy::Host pinned({.threads = 2});
    ThreadPool forced(2);
    measure_and_print(
        "pinned to one processor",
        {{"1 thread", callers_of(one.pool())},
         {"2 threads, host made after", callers_of(pinned.pool())},
         {"2 threads, host made before", callers_of(two.pool())},
         {"2 threads, pool made after", callers_of(forced)},
         {"1 thread, a call a millisecond", callers_of(one.pool()), a_millisecond},
         {"2 threads, host made before, a call a millisecond", callers_of(two.pool()), a_millisecond}},
        true);
    fmt::print("}}\n");
}
