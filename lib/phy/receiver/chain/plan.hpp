#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/estimator.hpp"
#include "phy/ofdm/ofdm_config.hpp"
#include "phy/ofdm/transform_deprecoder.hpp"
#include "phy/receiver/receiver.hpp"
#include "phy/receiver/slot_schedule.hpp"

/// What follows from the configuration of a receiver, wherever it runs.
namespace phy::detail {

struct ReceiverPlan {
    /// Throws ArgumentError as phy::Receiver does, but for what the operators of the chain check themselves.
    explicit ReceiverPlan(const ReceiverConfig& given);

    ReceiverConfig config;
    SlotSchedule schedule;
    std::optional<OfdmConfig> ofdm;                       ///< none for grids
    std::optional<TransformDeprecoderConfig> deprecoder;  ///< none without transform precoding
    DemapperConfig demapper;
    std::size_t layers = 0;
    std::size_t antennas = 0;
    std::size_t subcarriers = 0;

    // Elements of arrays, by slot.
    std::size_t input = 0;  ///< of one antenna
    std::size_t grid = 0;   ///< of all antennas
    std::size_t pilots = 0;
    std::size_t symbols = 0;
    std::size_t soft_bits = 0;
    std::size_t channel = 0;     ///< of ReceiverOutput::channel
    std::size_t covariance = 0;  ///< 0 without interference rejection

    [[nodiscard]] ChannelEstimatorConfig estimator() const;
    [[nodiscard]] EqualizerConfig equalizer(std::span<const float> time_weights) const;

    /// Pilots of all slots of the schedule: (SlotSchedule::slots(), pilots).
    [[nodiscard]] std::vector<cf32> make_pilots() const;

    /// The words of the codeword's scrambling sequence, which is that of every slot.
    [[nodiscard]] std::vector<std::uint32_t> make_signs() const;
};

/// Elements of the arrays of a call.
struct ReceiverCallSizes {
    std::size_t input = 0;
    std::size_t llr = 0;
    std::size_t slots = 0;
    std::size_t symbols = 0;
    std::size_t noise_variance = 0;
    std::size_t channel = 0;
};

/// How many slots a call has. Throws ArgumentError if sizes do not fit, and for another format of soft bits.
std::size_t checked_slots(const ReceiverPlan& plan, const ReceiverCallSizes& call, SampleFormat input,
                          SoftBitFormat llr);

}  // namespace phy::detail
