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
    std::vector<Modulation> modulations;  ///< empty: those of --mcs, else the default ones
    std::vector<double> snr_db;
    std::vector<Method> methods = {Method::max_log};
    std::vector<SoftBitFormat> formats = {SoftBitFormat::float32};
    std::vector<float> scales;  ///< of int8; empty: the default one
    std::vector<std::string> known;
    std::vector<bool> interference_rejection = {false};
    std::vector<bool> joint_detection = {false};
    std::vector<int> iterations = {0};
    std::vector<bool> phase_tracking = {false};
    std::vector<TimeInterpolation> time = {TimeInterpolation::linear};

    ChannelModel channel;
    double timing_offset_ns = 0.0;
    double frequency_offset = 0.0;
    double doppler = 0.0;
    std::optional<double> interference_db;
    std::vector<double> antenna_gains_db;
    std::optional<double> phase_noise;  ///< dBc/Hz, 10 kHz from the carrier
    int layers = 1;
    std::optional<int> antennas;
    int resource_blocks = 52;
    double subcarrier_spacing = 30000.0;
    int dmrs_type = 1;
    std::vector<int> dmrs_symbols = {2, 11};
    std::optional<PtrsConfig> ptrs;
    double delay_spread_ns = 0.0;  ///< given to estimators; 0: none
    Equalization equalizer = Equalization::mmse;

    std::vector<double> code_rates;  ///< each with each modulation
    std::vector<int> mcs;
    std::optional<std::string> mcs_table;
    std::optional<int> decoder_iterations;

    std::optional<std::uint64_t> errors;
    std::optional<std::uint64_t> max_bits;
    std::optional<std::uint64_t> block_errors;
    std::optional<std::uint64_t> max_blocks;
    std::optional<std::uint64_t> min_slots;
    std::uint64_t seed = 1;
    std::optional<Backend> backend;
    int threads = 0;
    std::string csv;
    bool force = false;

    /// Whether slots carry transport blocks.
    [[nodiscard]] bool has_blocks() const { return !code_rates.empty() || !mcs.empty(); }
    [[nodiscard]] std::string table_of_mcs() const { return mcs_table.value_or("qam64"); }
};

void add_link_sim_options(LinkSimOptions& options, po::options_description& list);

/// "FIRST:STEP:LAST", or one number. Throws an ArgumentError with what it expected.
std::vector<double> parse_snr_range(const std::string& text);

/// All points of the options, modulation by modulation or MCS by MCS. Throws ArgumentError, which names the
/// option, if options contradict each other.
std::vector<LinkConfig> points_of(const LinkSimOptions& options);

StopRule stop_rule_of(const LinkSimOptions& options);

}  // namespace phy::apps
