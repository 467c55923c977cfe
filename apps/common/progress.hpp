#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

namespace phy::apps {

/// Shows progress on stderr: a bar on a terminal, else a line at most every ten seconds. Not thread-safe.
class Progress {
public:
    enum class Unit { symbols, slots, bytes, parts };
    using Clock = std::chrono::steady_clock;

    /// total: expected number of symbols, slots, bytes or parts; quiet: shows nothing; time: the time now.
    Progress(std::uint64_t total, bool quiet, Unit unit = Unit::symbols,
             std::function<Clock::time_point()> time = Clock::now);

    /// Erases the bar, so that later output starts on a clean line.
    ~Progress();

    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    /// Adds to what is done.
    void advance(std::uint64_t count) { update(done_ + count, total_); }

    /// Sets what is done and the total. 0 slots done: slots are searched for.
    void update(std::uint64_t done, std::uint64_t total);

private:
    [[nodiscard]] std::string state(Clock::time_point now) const;
    void show(Clock::time_point now);

    std::uint64_t total_;
    std::uint64_t done_ = 0;
    bool quiet_;
    Unit unit_;
    bool terminal_;
    std::function<Clock::time_point()> time_;
    Clock::duration interval_;
    Clock::time_point start_ = time_();
    Clock::time_point next_ = start_ + interval_;
};

}  // namespace phy::apps
