#include <benchmark/benchmark.h>

#include <chrono>
#include <cstdint>
#include <vector>

#include "common/machine.hpp"
#include "phy/phy.hpp"

namespace {

// Processors take a moment to reach their clock, more so with wide vectors.
void warm_up() {
    const std::vector<phy::cf32> iq(1 << 16, {0.1F, 0.2F});
    std::vector<std::int8_t> llr(8 * iq.size());
    phy::SoftDemapper demap(phy::Host(), {.modulation = phy::Modulation::qam256});
    const auto start = std::chrono::steady_clock::now();
    while (std::chrono::steady_clock::now() - start < std::chrono::seconds(1)) {
        demap(iq, 0.01F, llr);
    }
}

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
    benchmark::AddCustomContext("phy_version", phy::version);
    benchmark::AddCustomContext("processor", phy::apps::processor());
    benchmark::AddCustomContext("best_backend", phy::Backend::best().name());
    warm_up();
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
