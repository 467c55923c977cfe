#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "phy/phy.hpp"

namespace phy::apps {

/// The command line of demod_app.
struct DemodOptions {
    std::string capture;
    CaptureOptions reading;
    std::optional<Modulation> modulation;
    std::optional<float> noise_variance;

    std::string output;
    bool force = false;
    Method method = Method::max_log;
    Evaluator evaluator = Evaluator::automatic;
    SoftBitFormat format = SoftBitFormat::int8;
    float llr_scale = 6.0F;
    int llr_clip = 127;

    std::string backend = "auto";
    std::string device;  ///< see choose_backends
    std::optional<int> threads;
    std::optional<std::uint64_t> chunk;
    std::optional<std::uint64_t> streams;
    IssueOrder order = IssueOrder::sequential;
    std::string trace;
};

}  // namespace phy::apps
