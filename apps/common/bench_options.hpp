#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/app.hpp"
#include "common/formats.hpp"
#include "common/json.hpp"
#include "phy/core/backend.hpp"
#include "phy/core/modulation.hpp"

/// What benchmarks from host memory to host memory are told, and tell, in the same words.
namespace phy::apps {

/// --modulation and --formats.
void add_signal_options(po::options_description& list, Modulation& modulation, std::vector<Formats>& formats);

/// Where something was measured.
struct BenchPlace {
    std::string backends;
    std::optional<std::string> devices;  ///< none: on a CPU
    int threads;                         ///< on a CPU

    /// The devices, or the processor.
    [[nodiscard]] std::string hardware() const;
};

/// Where, when and with what signal, for the results of --json.
std::vector<Json::Member> bench_context(const BenchPlace& place, Modulation modulation);

}  // namespace phy::apps
