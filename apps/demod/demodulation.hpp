#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "demod/options.hpp"

namespace phy::apps {

/// The result for symbols, or for samples or a grid.
using Demodulated = std::variant<Demodulation, Reception>;

/// Demodulates the capture, and writes the trace on request. Shows progress unless quiet.
Demodulated demodulate(const DemodOptions& options, bool quiet);

/// What is measured over a whole capture, so that its ranges need not do it.
struct WholeCapture {
    std::uint64_t items = 0;                   ///< symbols or slots
    std::optional<float> gain = {};            ///< of symbols
    std::optional<float> noise_variance = {};  ///< of symbols, if it was to be estimated
    std::vector<std::string> warnings = {};
};

/// The files that are read.
std::vector<std::filesystem::path> input_files(const DemodOptions& options);

/// Measures it; of slots by DemodOptions::survey.
WholeCapture measure_whole(const DemodOptions& options, bool quiet);

}  // namespace phy::apps
