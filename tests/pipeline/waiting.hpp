#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>

/// Synchronisation of a test's threads.
namespace phy_test {

/// How long a test waits for an immediate event before it fails.
inline constexpr std::chrono::seconds patience{60};

/// Opens once.
class Gate {
public:
    void open() {
        {
            const std::lock_guard lock(mutex_);
            open_ = true;
        }
        changed_.notify_all();
    }

    /// False if it is not opened in time.
    bool wait() {
        std::unique_lock lock(mutex_);
        return changed_.wait_for(lock, patience, [this] { return open_; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    bool open_ = false;
};

/// In each round all parties wait for each other. If some are missing, the others continue after a while, and
/// at once in later rounds.
class Rendezvous {
public:
    explicit Rendezvous(int parties) : parties_(parties) {}

    void meet(std::uint64_t round) {
        std::unique_lock lock(mutex_);
        ++arrived_[round];
        changed_.notify_all();
        const auto ready = [&] { return failed_ || arrived_[round] == parties_; };
        if (!changed_.wait_for(lock, patience, ready)) failed_ = true;
        if (failed_) changed_.notify_all();
    }

    [[nodiscard]] bool failed() const {
        const std::lock_guard lock(mutex_);
        return failed_;
    }

    /// Number of rounds in which all have met.
    [[nodiscard]] std::uint64_t rounds() const {
        const std::lock_guard lock(mutex_);
        return static_cast<std::uint64_t>(
            std::ranges::count_if(arrived_, [this](const auto& round) { return round.second == parties_; }));
    }

private:
    int parties_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<std::uint64_t, int> arrived_;
    bool failed_ = false;
};

}  // namespace phy_test
