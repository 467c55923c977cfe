#pragma once

#include <functional>
#include <optional>
#include <string>

#include "capture/machine_options.hpp"
#include "phy/files/demodulate.hpp"
#include "phy/files/receive.hpp"

namespace phy::apps {

/// The command line of demod_app.
struct DemodOptions {
    std::string capture;
    std::vector<std::string> more_captures;  ///< of further antennas
    std::string output;
    std::string link;               ///< link file; empty: the capture's attribute
    std::string survey;             ///< file; empty: none
    bool surveys_if_slots = false;  ///< captures of symbols ignore the survey
    std::string trace;
    std::string example;  ///< text to print; nothing else is done then
    std::optional<SoftBitFormat> llr;
    std::optional<float> llr_scale;
    std::optional<int> llr_clip;
    bool chooses_datasets = false;  ///< --write is given
    bool decode = false;            ///< --decode is given
    bool no_decode = false;
    std::optional<int> decoder_iterations;
    std::optional<int> iterations;  ///< of detection and decoding

    SoftBitFileOptions files;        ///< for captures of all kinds
    DemodulateOptions symbols;       ///< further options for captures of symbols
    ReceiveOptions slots;            ///< further options for grids and samples
    double delay_spread_ns = 0.0;    ///< 0: none given
    float doppler_spread_hz = 0.0F;  ///< 0: measured

    MachineOptions machine;
    std::function<void()> each_chunk = {};  ///< called after each chunk, and while a capture is searched
};

void add_demod_options(DemodOptions& options, po::options_description& list);

}  // namespace phy::apps
