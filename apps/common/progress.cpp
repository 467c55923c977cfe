#include "common/progress.hpp"

#include <cstdio>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <unistd.h>

namespace phy::apps {
namespace {

constexpr const char* wipe_line = "\r\033[K";

std::string bar(double fraction) {
    constexpr int width = 40;
    const auto filled = static_cast<std::size_t>(fraction * width);
    return fmt::format("[{:<{}}] ", std::string(filled, '='), width);
}

}  // namespace

Progress::Progress(std::uint64_t total, bool quiet, Unit unit, std::function<Clock::time_point()> time)
    : total_(total),
      quiet_(quiet),
      unit_(unit),
      terminal_(isatty(STDERR_FILENO) == 1),
      time_(std::move(time)),
      interval_(terminal_ ? std::chrono::milliseconds(100) : std::chrono::seconds(10)) {}

Progress::~Progress() {
    if (terminal_ && !quiet_) std::fputs(wipe_line, stderr);
}

void Progress::update(std::uint64_t done, std::uint64_t total) {
    done_ = done;
    total_ = total;
    if (quiet_) return;
    const auto now = time_();
    if (now < next_) return;
    next_ = now + interval_;
    show(now);
}

std::string Progress::state(Clock::time_point now) const {
    if (unit_ == Unit::slots && done_ == 0) return "searching";
    const double fraction = static_cast<double>(done_) / static_cast<double>(total_);
    const double seconds = std::chrono::duration<double>(now - start_).count();
    const double rate = static_cast<double>(done_) / seconds;
    const std::string speed = unit_ == Unit::slots   ? fmt::format("slots, {:.0f} slots/s", rate)
                              : unit_ == Unit::parts ? fmt::format("parts, {:.1f} parts/min", 60.0 * rate)
                              : unit_ == Unit::bytes ? fmt::format("bytes, {:.0f} MB/s", 1e-6 * rate)
                                                     : fmt::format("symbols, {:.1f} Msymbol/s", 1e-6 * rate);
    return (terminal_ ? bar(fraction) : "") + fmt::format("{:.0f} % of {} {}, {:.0f} s left",
                                                          100.0 * fraction, total_, speed,
                                                          seconds * (1.0 - fraction) / fraction);
}

void Progress::show(Clock::time_point now) {
    const std::string line = terminal_ ? wipe_line + state(now) : state(now) + "\n";
    std::fputs(line.c_str(), stderr);
    std::fflush(stderr);
}

}  // namespace phy::apps
