#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "phy/files/receive.hpp"
#include "phy/files/receive/capture_slots.hpp"
#include "phy/machine/host.hpp"

namespace phy::detail {

/// What is measured over a whole capture before its slots are received: the same for each range of them.
struct Survey {
    std::vector<std::uint64_t> skipped;   ///< as Reception::skipped
    std::vector<std::uint64_t> left_out;  ///< antennas, see CaptureSignal

    // Of the receiver's link:
    std::optional<std::uint64_t> first_sample;
    int first_slot = 0;
    double frequency_shift = 0.0;

    bool is_resampled = false;
    std::vector<Impairment> impairments;
    std::vector<Track::Stretch> stretches;

    // As in Reception:
    std::optional<FoundSlot> found;
    Offsets corrected;
    ClockReport clock;
    std::vector<MissingSamples> gaps;
    std::vector<std::string> warnings;
};

/// A survey as text, with what it was made from: names and values, which must be the same when it is used.
struct SurveyOrigin {
    std::string version;
    std::string capture;   ///< size, layout and a digest of some samples
    std::string link;      ///< JSON
    std::string settings;  ///< of the receiver
};

std::string to_text(const Survey& survey, const SurveyOrigin& origin);

/// Throws ArgumentError for text that is no survey, or one of another origin.
Survey parse_survey(const std::string& text, const SurveyOrigin& origin);

}  // namespace phy::detail
