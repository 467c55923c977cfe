#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "common/json.hpp"

/// Calls one after another, from one thread or from several at a time. Cases take turns, so that a change of
/// the machine's load meets all of them.
namespace phy::bench {

struct Case {
    std::string name;

    /// What each caller does again and again, on a thread of its own.
    std::vector<std::function<void()>> callers;

    std::chrono::microseconds between{0};  ///< in which a caller sleeps before it calls
};

/// Prints the beginning of a JSON object: a member that says when, with what and where this was measured, and
/// more of it.
void print_context(const std::vector<apps::Json::Member>& more);

/// Prints one member of a JSON object: of every case, over all callers and turns, the medians of the median,
/// the mean and the 99th percentile of a call's time, and of the ratio to the first case in the same turn.
void measure_and_print(const char* name, const std::vector<Case>& cases, bool last = false);

/// As taskset -a does: every thread of this process, to the processor that the caller runs on.
void pin_all_threads();

}  // namespace phy::bench
