#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/json.hpp"
#include "phy/core/modulation.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/pipeline/pipeline.hpp"

namespace phy::apps {

/// What a demodulation did and how fast it was.
struct DemodReport {
    std::uint64_t symbols = 0;
    std::uint64_t soft_bits = 0;
    double seconds = 0.0;  ///< from opening the output to its last byte
    std::string backend;
    std::optional<std::string> device;  ///< none on a CPU
    Modulation modulation = Modulation::qpsk;
    std::optional<float> noise_variance;  ///< none: one a symbol
    DemapCounters counters;
    std::optional<std::uint64_t> bit_errors;  ///< none without transmitted bits to compare with
    std::vector<PipelineReport::Busy> stages;

    [[nodiscard]] Json json() const;
    [[nodiscard]] std::string text() const;
};

}  // namespace phy::apps
