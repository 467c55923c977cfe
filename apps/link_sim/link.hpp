#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "link_sim/block_coding.hpp"
#include "phy/phy.hpp"
#include "transmission/channel.hpp"
#include "transmission/transmitter.hpp"

/// A complete chain, from bits to soft bits, made from phy's operators: see transmission/transmitter.cpp and
/// link.cpp.
namespace phy::apps {

/// What a receiver is given and does not estimate.
struct Knowledge {
    bool channel = false;
    bool noise = false;

    friend bool operator==(const Knowledge&, const Knowledge&) = default;
};

/// "channel", "noise", "channel,noise" or "none".
std::string_view to_string(const Knowledge& known);

/// How grids become symbols.
struct EqualizerChoice {
    Knowledge known = {};
    bool interference_rejection = false;  ///< with the covariance of noise and interference, not with N0
    TimeInterpolation time = TimeInterpolation::linear;  ///< of estimates
    bool phase_tracking = false;                         ///< of the common phase error
    bool joint_detection = false;                        ///< two layers to soft bits by maximum likelihood
    int iterations = 0;                                  ///< of detection and decoding, for failing blocks
};

/// "mmse", "zero-forcing".
std::string_view to_string(Equalization equalization);

/// How soft bits are computed.
struct SoftBitChoice {
    Method method = Method::max_log;
    SoftBitFormat format = SoftBitFormat::float32;
    float scale = 6.0F;  ///< int8: steps per nat
};

/// Whether slots differ in more than noise.
inline bool slots_differ(ChannelKind channel, const std::optional<double>& phase_noise) {
    return channel != ChannelKind::awgn || phase_noise;
}

/// A point of a curve, and its receivers.
struct LinkConfig {
    Modulation modulation = Modulation::qpsk;
    double snr_db = 0.0;                     ///< power of all layers at an antenna over the noise there
    std::optional<BlockCoding> coding = {};  ///< none: a codeword is random bits
    SlotAllocation allocation;
    Channel::Config channel;
    std::optional<double> interference_db = {};  ///< a layer of another cell over the signal, at an antenna
    std::vector<double> antenna_gains_db = {};   ///< of signal, interference and noise; empty: all 0
    std::optional<double> phase_noise = {};      ///< dBc/Hz at 10 kHz from the carrier, see PhaseNoise
    std::optional<double> delay_spread = {};     ///< s, given to estimators; none: measured
    Equalization equalization = Equalization::mmse;
    std::vector<EqualizerChoice> equalizers;
    std::vector<SoftBitChoice> soft_bits;  ///< each demaps the symbols of each equaliser
    std::uint64_t seed = 1;
    std::optional<Backend> backend;  ///< a CPU backend; none: Backend::best()

    [[nodiscard]] Transmitter::Config transmitter() const;
    [[nodiscard]] std::size_t receivers() const { return equalizers.size() * soft_bits.size(); }

    /// The transport block of a slot. Only with coding.
    [[nodiscard]] TransportBlockConfig transport_block() const;

    /// N0 at an antenna before its gain; each layer arrives with power 1.
    [[nodiscard]] double noise_variance() const;

    /// Of noise and interference behind the gains, mean over antennas.
    [[nodiscard]] double disturbance() const;
};

/// The channel of a slot.
struct ChannelState {
    std::span<const float> coefficients;  ///< (moments, antennas, layers, 2, subcarriers), see Channel
    std::array<cf32, symbols_per_slot> phase;
    float noise_variance;              ///< with the interference, mean over antennas
    std::span<const cf32> covariance;  ///< (subbands, antennas, antennas) of noise and interference
};

/// Received grids to the soft bits of a codeword.
class Receiver {
public:
    Receiver(const Host& host, const LinkConfig& config, const EqualizerChoice& choice);

    /// grid: (antennas, symbols, subcarriers). Uses only those true values that its Knowledge has.
    void equalise(std::span<const cf32> grid, std::span<const cf32> pilots, const ChannelState& truth);

    /// The last equalised symbols, (data elements, layers), each with its noise variance.
    [[nodiscard]] std::span<const cf32> symbols() const { return symbols_; }
    [[nodiscard]] std::span<const float> noise_variance() const { return noise_variance_; }

    [[nodiscard]] const EqualizerChoice& choice() const { return choice_; }

    /// The soft bits of those symbols by LinkConfig::soft_bits[choice]; valid until the next call. priors:
    /// see JointDetector.
    SoftBitView soft_bits(std::size_t choice, std::span<const std::int8_t> priors = {});

private:
    EqualizerChoice choice_;
    std::vector<SoftBitChoice> choices_;
    std::optional<ChannelEstimator> estimate_;
    std::optional<Equalizer> equalize_;
    std::optional<Equalizer> equalize_ptrs_;
    std::optional<PhaseTracker> track_;
    std::vector<SoftDemapper> demap_;
    std::vector<JointDetector> detect_;  ///< with joint detection, in the place of demappers
    std::vector<std::uint32_t> signs_;   ///< for a codeword's soft bits
    std::vector<float> channel_;
    std::vector<cf32> covariance_;  ///< empty without interference rejection
    std::vector<cf32> symbols_;
    std::vector<float> noise_variance_;
    std::vector<LayerPair> pairs_;
    std::vector<cf32> ptrs_;
    std::vector<float> ptrs_noise_variance_;
    std::vector<std::byte> soft_bits_;
    std::size_t soft_bits_per_slot_;
};

}  // namespace phy::apps
