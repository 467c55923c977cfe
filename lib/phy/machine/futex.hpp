#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace phy::detail {

// std::atomic::wait yields before it sleeps, and a yield may cost a whole time slice.
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

/// Sleeps until futex_wake() on the same word, unless the word is not what the caller expects. May also
/// return for no reason.
inline void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected) {
    syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, nullptr, nullptr, 0);
}

/// Wakes at most so many threads that sleep on the word.
inline void futex_wake(const std::atomic<std::uint32_t>& word, std::uint32_t threads) {
    syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, threads, nullptr, nullptr, 0);
}

}  // namespace phy::detail
