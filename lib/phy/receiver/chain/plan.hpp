#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/detector/detector.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/estimator.hpp"
#include "phy/ofdm/ofdm_config.hpp"
#include "phy/ofdm/transform_deprecoder.hpp"
#include "phy/receiver/receiver.hpp"
#include "phy/receiver/slot_schedule.hpp"
#include "phy/tracker/tracker.hpp"

/// Everything that follows from a receiver's configuration, for every backend.
namespace phy::detail {

/// Allocated elements whose energies decide whether an OFDM symbol is disturbed.
struct ProbedElements {
    static constexpr std::size_t max_subcarriers = 32;  ///< one per thread of a warp

    std::uint32_t first_symbol = 0;
    std::uint32_t symbols = 0;
    std::uint32_t subcarriers = 0;
    std::array<std::uint32_t, max_subcarriers> subcarrier = {};  ///< evenly spread
};

struct ReceiverPlan {
    /// Throws ArgumentError as phy::Receiver does, except what the chain's operators check themselves.
    explicit ReceiverPlan(const ReceiverConfig& given);

    ReceiverConfig config;
    SlotSchedule schedule;
    std::optional<OfdmDemodulatorConfig> demodulator;     ///< none: grids
    std::optional<TransformDeprecoderConfig> deprecoder;  ///< none: no transform precoding
    std::optional<PhaseTrackerConfig> tracker;            ///< none: no phase tracking
    std::optional<SlotAllocation> ptrs;                   ///< of PT-RS; none: the tracker has none
    std::optional<PrecoderInput> samples;  ///< of data and PT-RS; none: the deprecoder's are data
    DemapperConfig demapper;
    std::optional<JointDetectorConfig> detector;  ///< none: the demapper makes the soft bits
    std::size_t layers = 0;
    std::size_t antennas = 0;
    std::size_t subcarriers = 0;
    ProbedElements probed;

    // Elements of arrays, per slot.
    std::size_t input = 0;  ///< per antenna
    std::size_t grid = 0;   ///< of all antennas
    std::size_t pilots = 0;
    std::size_t symbols = 0;
    std::size_t soft_bits = 0;
    std::size_t channel = 0;     ///< of ReceiverOutput::channel
    std::size_t covariance = 0;  ///< 0 without interference rejection
    std::size_t pairs = 0;       ///< 0 without joint detection
    std::size_t ptrs_symbols = 0;
    std::size_t ptrs_pilots = 0;  ///< with transform precoding alone: others are the pilots
    std::size_t deprecoded = 0;   ///< samples of data and PT-RS

    [[nodiscard]] ChannelEstimatorConfig estimator() const;
    [[nodiscard]] EqualizerConfig equalizer(std::span<const float> time_weights, int time_sets) const;
    /// That of PT-RS, if there are some that are not precoded.
    [[nodiscard]] std::optional<EqualizerConfig> ptrs_equalizer(std::span<const float> time_weights,
                                                                int time_sets) const;

    /// Pilots of all slots of the schedule, (SlotSchedule::slots(), pilots).
    [[nodiscard]] std::vector<cf32> make_pilots() const;
    [[nodiscard]] std::vector<cf32> make_ptrs_pilots() const;

    /// The words of the scrambling sequence, which is the same in every slot.
    [[nodiscard]] std::vector<std::uint32_t> make_signs() const;
};

/// Numbers of elements in the arrays of a call.
struct ReceiverCallSizes {
    std::size_t input = 0;
    std::size_t llr = 0;
    std::size_t slots = 0;
    std::size_t symbols = 0;
    std::size_t noise_variance = 0;
    std::size_t channel = 0;
    std::size_t priors = 0;
};

/// The number of slots in a call. Throws ArgumentError if sizes do not fit, and for another soft-bit format.
std::size_t checked_slots(const ReceiverPlan& plan, const ReceiverCallSizes& call, SampleFormat input,
                          SoftBitFormat llr);

}  // namespace phy::detail
