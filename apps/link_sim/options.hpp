#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/app.hpp"
#include "link_sim/link.hpp"
#include "link_sim/simulation.hpp"

namespace phy::apps {

/// The command line of link_sim.
struct LinkSimOptions {
    std::vector<Modulation> modulations = {Modulation::qpsk, Modulation::qam16, Modulation::qam64,
                                           Modulation::qam256};
    std::vector<double> snr_db;
    std::vector<Method> methods = {Method::max_log};
    std::vector<SoftBitFormat> formats = {SoftBitFormat::float32};
    std::vector<float> scales;  ///< of int8; empty: the default one
    std::vector<std::string> known;

    ChannelModel channel;
    double timing_offset_ns = 0.0;
    double frequency_offset = 0.0;
    int layers = 1;
    std::optional<int> antennas;
    int resource_blocks = 52;
    double subcarrier_spacing = 30000.0;
    int dmrs_type = 1;
    std::vector<int> dmrs_symbols = {2, 11};
    double delay_spread_ns = 0.0;  ///< given to estimators; 0: none
    Equalization equalizer = Equalization::mmse;

    std::uint64_t errors = 1000;
    std::uint64_t max_bits = 10'000'000;
    std::optional<std::uint64_t> min_slots;
    std::uint64_t seed = 1;
    std::optional<Backend> backend;
    int threads = 0;
    std::string csv;
    bool force = false;
};

void add_link_sim_options(LinkSimOptions& options, po::options_description& list);

/// "FIRST:STEP:LAST", or one number. Throws an ArgumentError with what it expected.
std::vector<double> parse_snr_range(const std::string& text);

/// All points of the options, modulation by modulation. Throws ArgumentError, which names the option, if
/// options contradict each other.
std::vector<LinkConfig> points_of(const LinkSimOptions& options);

StopRule stop_rule_of(const LinkSimOptions& options);

}  // namespace phy::apps
