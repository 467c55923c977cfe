#pragma once

#include <fstream>
#include <string>

namespace phy::bench {

/// What the processor calls itself.
inline std::string processor() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
    }
    return "unknown";
}

}  // namespace phy::bench
