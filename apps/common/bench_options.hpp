#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/app.hpp"
#include "common/formats.hpp"
#include "common/json.hpp"
#include "phy/core/backend.hpp"
#include "phy/core/modulation.hpp"

/// Common options and results of benchmarks from host memory to host memory.
namespace phy::apps {

/// --modulation and --formats.
void add_signal_options(po::options_description& list, Modulation& modulation, std::vector<Formats>& formats);

/// Where a benchmark ran.
struct BenchPlace {
    std::string backends;
    std::optional<std::string> devices;  ///< none: a CPU
    int threads;                         ///< on a CPU

    /// Names of the devices, or of the processor.
    [[nodiscard]] std::string hardware() const;
};

/// Place, time and signal of a benchmark, for --json.
std::vector<Json::Member> bench_context(const BenchPlace& place, Modulation modulation);

}  // namespace phy::apps
