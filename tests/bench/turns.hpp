#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/json.hpp"

/// Consecutive calls from one thread or several. Cases take turns, so that changes in the machine's load
/// affect all of them.
namespace phy::bench {

struct Case {
    std::string name;

    /// called repeatedly, each on a thread of its own
    std::vector<std::function<void()>> callers;

    std::chrono::microseconds between{0};  ///< sleep of a caller before each call
};

/// Prints the beginning of a JSON object: a member with time, hardware and software, and `more` members of
/// it.
void print_context(const std::vector<apps::Json::Member>& more);

/// Prints one member of a JSON object. For each case it has medians over all callers and turns: of a call's
/// median, mean and 99th percentile time, and of the ratio to the first case in the same turn.
void measure_and_print(const char* name, const std::vector<Case>& cases, bool last = false);

/// Pins every thread of this process to the caller's processor, like taskset -a.
void pin_all_threads();

}  // namespace phy::bench
