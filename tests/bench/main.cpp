#include <benchmark/benchmark.h>

#include <fstream>
#include <string>

#include "phy/phy.hpp"

namespace {

std::string processor() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name")) return line.substr(line.find(": ") + 2);
    }
    return "unknown";
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::AddCustomContext("phy_version", phy::version);
    benchmark::AddCustomContext("processor", processor());
    benchmark::AddCustomContext("best_backend", phy::Backend::best().name());
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
