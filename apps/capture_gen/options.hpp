#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture_gen/recording.hpp"
#include "common/app.hpp"
#include "phy/capture/capture.hpp"
#include "phy/phy.hpp"
#include "transmission/channel_model.hpp"

namespace phy::apps {

/// The command line of capture_gen. None: not given.
struct CaptureGenOptions {
    std::string output;
    std::optional<CaptureKind> kind;
    double snr_db = 20.0;
    std::uint64_t seed = 1;
    SampleFormat type = SampleFormat::cf32;
    CaptureLayout layout = CaptureLayout::compound;
    bool no_bits = false;
    bool force = false;
    bool durable = false;

    // For symbols.
    std::optional<Modulation> modulation;
    std::optional<std::uint64_t> symbols;
    bool per_symbol_noise = false;
    std::optional<ScramblingIdentity> scramble;

    // For samples and a grid.
    std::string link;
    std::optional<std::uint64_t> slots;
    std::optional<int> antennas;
    std::optional<ChannelModel> channel;
    std::optional<double> timing_offset_ns;
    std::optional<double> frequency_offset;
    std::optional<UciBits> uci;

    // For samples.
    std::optional<double> sample_rate;
    std::optional<double> center_frequency;
    std::optional<std::uint64_t> first_sample;
    std::optional<double> clock_offset_ppm;
    std::optional<double> clock_drift_ppm;  ///< per s
    std::optional<double> line_db;
    std::optional<double> image_db;
    std::optional<double> clip_db;
    std::optional<std::vector<DroppedSamples>> gaps;
};

void add_capture_gen_options(CaptureGenOptions& options, po::options_description& list);

/// The kind of capture; symbols by default. Throws ArgumentError, which names the option, if an option is
/// missing or does not apply.
CaptureKind checked_kind(const CaptureGenOptions& options);

}  // namespace phy::apps
