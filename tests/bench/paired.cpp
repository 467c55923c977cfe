#include "bench/paired.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "common/median.hpp"

namespace phy::bench {
namespace {

using apps::median;
using apps::Quartiles;
using Clock = std::chrono::steady_clock;

double seconds_of(const std::function<void()>& work, std::size_t repeats) {
    work();  // what the other piece of work left in the caches, and sleeping threads, are no concern of this
             // one
    const auto start = Clock::now();
    for (std::size_t i = 0; i < repeats; ++i) {
        work();
        benchmark::ClobberMemory();
    }
    return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(repeats);
}

// So many that a timing takes some hundred microseconds: short enough to fall between two interruptions.
std::size_t repeats_for(const std::function<void()>& work) {
    constexpr double wanted = 300e-6;
    const double once = std::max(1e-9, std::min(seconds_of(work, 1), seconds_of(work, 1)));
    return static_cast<std::size_t>(std::max(1.0, wanted / once));
}

}  // namespace

void run_paired_with(benchmark::State& state, const Traffic& traffic, const char* name,
                     const std::function<void()>& reference, const std::function<void()>& work) {
    const std::size_t reference_repeats = repeats_for(reference);
    const std::size_t work_repeats = repeats_for(work);
    std::vector<double> times;
    std::vector<double> ratios;
    for (auto _ : state) {
        const double of_reference = seconds_of(reference, reference_repeats);
        const double of_work = seconds_of(work, work_repeats);
        times.push_back(of_work);
        ratios.push_back(of_reference / of_work);
        state.SetIterationTime(of_work);
    }
    const Quartiles seconds = apps::quartiles(times);
    const auto bytes = static_cast<double>(traffic.bytes_in + traffic.bytes_out);
    state.counters["seconds"] = seconds.median;
    state.counters["lower_quartile_seconds"] = seconds.lower;
    state.counters["upper_quartile_seconds"] = seconds.upper;
    state.counters["Gsym/s"] = static_cast<double>(traffic.symbols) / seconds.median * 1e-9;
    state.counters["GB/s"] = bytes / seconds.median * 1e-9;
    state.counters[name] = median(ratios);
}

void run_paired(benchmark::State& state, const Traffic& traffic, const std::function<void()>& work) {
    const std::size_t moved = (traffic.bytes_in + traffic.bytes_out) / 2;
    const std::vector<char> from(moved, 'x');
    std::vector<char> to(moved, 'y');
    const auto copy = [&] { std::memcpy(to.data(), from.data(), moved); };
    run_paired_with(state, traffic, "of_memcpy", copy, work);
}

}  // namespace phy::bench
