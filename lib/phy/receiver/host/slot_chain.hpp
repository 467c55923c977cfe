#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "phy/demapper/demapper.hpp"
#include "phy/detector/detector.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/estimator/estimator.hpp"
#include "phy/machine/host.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/ofdm/transform_deprecoder.hpp"
#include "phy/receiver/chain/plan.hpp"
#include "phy/receiver/receiver.hpp"
#include "phy/simd/aligned_vector.hpp"
#include "phy/tracker/tracker.hpp"

namespace phy::detail {

/// Data that all slots share.
struct SharedReceiver {
    explicit SharedReceiver(const ReceiverConfig& config)
        : plan(config),
          pilots(plan.make_pilots()),
          ptrs_pilots(plan.make_ptrs_pilots()),
          signs(plan.make_signs()) {}

    ReceiverPlan plan;
    std::vector<cf32> pilots;       ///< by index in the schedule
    std::vector<cf32> ptrs_pilots;  ///< the same
    std::vector<std::uint32_t> signs;
};

/// Buffers between the steps of a slot.
struct SlotBuffers {
    AlignedVector<cf32> grid;
    AlignedVector<float> channel;
    AlignedVector<cf32> covariance;
    AlignedVector<cf32> symbols;
    AlignedVector<float> noise_variance;
    AlignedVector<LayerPair> pairs;
    AlignedVector<cf32> deprecoded;  ///< data and PT-RS, until each has its array
    AlignedVector<float> deprecoded_noise_variance;
    AlignedVector<cf32> ptrs;
    AlignedVector<float> ptrs_noise_variance;
};

/// All operators of the chain, for one slot at a time, with the threads of a host.
class SlotChain {
public:
    /// Keeps references to shared and buffers.
    SlotChain(const Host& host, const SharedReceiver& shared, SlotBuffers& buffers);

    /// Arrays are those of the slot. Expects checked arguments.
    void operator()(SymbolView input, std::uint64_t occasion, const ReceiverOutput& output,
                    std::span<const std::int8_t> priors);

private:
    SymbolView grid_of(SymbolView input, std::uint64_t occasion);
    void erase_disturbed(SlotEstimate& slot) const;
    void equalise(SymbolView grid, const SlotEstimate& slot, std::span<cf32> symbols, std::span<float> noise);
    void deprecode(std::span<cf32> symbols, std::span<float> noise);
    PtrsSymbols ptrs_of(SymbolView grid, const SlotEstimate& slot, std::size_t index);
    void write_channel(const SlotEstimate& slot, std::span<cf32> out) const;
    void write_path(std::size_t path, std::span<cf32> out) const;

    Host host_;
    const SharedReceiver& shared_;
    SlotBuffers& buffers_;
    std::optional<OfdmDemodulator> demodulate_;
    ChannelEstimator estimate_;
    Equalizer equalize_;
    std::optional<Equalizer> equalize_ptrs_;
    std::optional<TransformDeprecoder> deprecode_;
    std::optional<PhaseTracker> track_;
    SymbolMeter measure_;
    std::optional<SoftDemapper> demap_;  ///< none: soft bits come from the detector
    std::optional<JointDetector> detect_;
};

}  // namespace phy::detail
