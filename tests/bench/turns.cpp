#include "bench/turns.hpp"

#include <dirent.h>
#include <fmt/core.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <utility>

#include "common/machine.hpp"
#include "phy/core/version.hpp"
#include "phy/machine/host.hpp"

namespace phy::bench {
namespace {

using Clock = std::chrono::steady_clock;

double microseconds(Clock::duration time) {
    return std::chrono::duration<double, std::micro>(time).count();
}

/// Figures of many calls.
struct Times {
    double median;
    double mean;
    double slowest_of_100;  ///< the 99th percentile
};

Times times_of(std::vector<double> each) {
    std::sort(each.begin(), each.end());
    double sum = 0.0;
    for (const double time : each)
        sum += time;
    return {each[each.size() / 2], sum / static_cast<double>(each.size()), each[each.size() * 99 / 100]};
}

/// Calls for a fraction of a second.
Times measure(const std::function<void()>& call, std::chrono::microseconds between) {
    std::vector<double> each;
    const auto begin = Clock::now();
    for (auto now = begin; now - begin < std::chrono::milliseconds(150);) {
        if (between.count() > 0) std::this_thread::sleep_for(between);
        const auto start = Clock::now();
        call();
        now = Clock::now();
        each.push_back(microseconds(now - start));
    }
    return times_of(std::move(each));
}

/// One turn, of every caller.
std::vector<Times> run_once(const Case& one) {
    std::vector<Times> of_caller(one.callers.size());
    std::vector<std::thread> others;
    for (std::size_t n = 1; n < of_caller.size(); ++n)
        others.emplace_back([&, n] { of_caller[n] = measure(one.callers[n], one.between); });
    of_caller[0] = measure(one.callers[0], one.between);
    for (std::thread& other : others)
        other.join();
    return of_caller;
}

double median_of(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

double median_of(const std::vector<Times>& runs, double Times::*figure) {
    std::vector<double> values;
    for (const Times& run : runs)
        values.push_back(run.*figure);
    return median_of(std::move(values));
}

/// Every caller's, turn by turn.
using Runs = std::vector<Times>;

void print(const Case& one, const Runs& runs, const Runs& reference, const char* end) {
    std::vector<double> ratios;
    for (std::size_t run = 0; run < runs.size(); ++run)
        ratios.push_back(runs[run].median / reference[run / one.callers.size()].median);
    fmt::print(
        "    \"{}\": {{\"ratio\": {:.3f}, \"median_us\": {:.2f}, \"mean_us\": {:.2f}, \"p99_us\": "
        "{:.2f}}}{}\n",
        one.name, median_of(std::move(ratios)), median_of(runs, &Times::median),
        median_of(runs, &Times::mean), median_of(runs, &Times::slowest_of_100), end);
}

}  // namespace

void print_context(const std::vector<apps::Json::Member>& more) {
    std::vector<apps::Json::Member> context = {{"date", apps::date()},
                                               {"phy_version", version},
                                               {"processor", apps::processor()},
                                               {"usable_processors", Host::processors()}};
    context.insert(context.end(), more.begin(), more.end());
    fmt::print("{{\n  \"context\": {},\n", apps::Json::object(context).text());
}

void measure_and_print(const char* name, const std::vector<Case>& cases, bool last) {
    constexpr int turns = 11;
    std::vector<Runs> runs(cases.size());
    for (int turn = 0; turn < turns; ++turn) {
        for (std::size_t n = 0; n < cases.size(); ++n) {
            const std::vector<Times> of_turn = run_once(cases[n]);
            runs[n].insert(runs[n].end(), of_turn.begin(), of_turn.end());
        }
    }
    fmt::print("  \"{}\": {{\n", name);
    for (std::size_t n = 0; n < cases.size(); ++n)
        print(cases[n], runs[n], runs[0], n + 1 == cases.size() ? "" : ",");
    fmt::print("  }}{}\n", last ? "" : ",");
    std::fflush(stdout);
}

void pin_all_threads() {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(sched_getcpu()), &set);
    DIR* const tasks = opendir("/proc/self/task");
    if (tasks == nullptr) std::exit(1);
    while (const dirent* task = readdir(tasks)) {
        const int id = std::atoi(task->d_name);
        if (id > 0) sched_setaffinity(id, sizeof set, &set);
    }
    closedir(tasks);
}

}  // namespace phy::bench
