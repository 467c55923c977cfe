#pragma once

#include <pthread.h>
#include <sched.h>

#include <thread>

namespace phy_test {

/// Calls work() in a new thread that is pinned to the caller's processor. False if the machine does not allow
/// that.
template <typename Work>
bool on_one_processor(const Work& work) {
    bool pinned = false;
    std::thread([&] {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(static_cast<std::size_t>(sched_getcpu()), &set);
        pinned = pthread_setaffinity_np(pthread_self(), sizeof set, &set) == 0;
        if (pinned) work();
    }).join();
    return pinned;
}

}  // namespace phy_test
