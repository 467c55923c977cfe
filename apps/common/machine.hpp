#pragma once

#include <chrono>
#include <fstream>
#include <string>

#include <fmt/chrono.h>

namespace phy::apps {

/// The name of the processor.
inline std::string processor() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
    }
    return "unknown";
}

/// The time now, such as "2026-01-31T12:00:00Z".
inline std::string date() {
    const auto now = std::chrono::time_point_cast<std::chrono::seconds>(std::chrono::system_clock::now());
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace phy::apps
