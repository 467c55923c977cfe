#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/estimator/slot_estimate.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/receiver/chain/plan.hpp"
#include "phy/receiver/receiver.hpp"

/// The interface between the host code of the CUDA receiver and its kernels. All pointers are to device
/// memory; numbers of elements are not 0.
namespace phy::gpu::detail {

/// Joins the measurements of slots.
struct SummaryJob {
    const SlotEstimate* estimates;
    const SymbolSums* sums;
    std::uint32_t slots;
    ReceivedSlot* received;
};

/// Erases the disturbed OFDM symbols of slots.
struct DisturbanceJob {
    const cf32* grid;  ///< (slots, antennas, symbols, subcarriers)
    phy::detail::ProbedElements probed;
    std::uint32_t antennas;
    float paths;  ///< antennas x layers
    std::uint32_t subcarriers;
    std::uint32_t slots;
    SlotEstimate* estimates;
};

/// Mean over the estimates of a slot; 0 in slots with a spoiled pilot.
struct ChannelJob {
    const SlotEstimate* slot_estimates;
    const float* channel;              ///< see SlotEstimate
    const std::uint8_t* is_allocated;  ///< by resource block of the carrier
    int estimates;
    float reciprocal;     ///< of the number of estimates
    std::uint32_t paths;  ///< antennas x layers
    std::uint32_t subcarriers;
    std::uint32_t slots;
    cf32* mean;  ///< (slots, paths, subcarriers)
};

/// Takes some of the samples of slots before transform precoding.
struct SamplesJob {
    const cf32* deprecoded;  ///< (slots, of_slot)
    const float* deprecoded_noise_variance;
    std::uint32_t of_slot;
    const std::uint32_t* samples;  ///< indices in a slot
    std::uint32_t count;           ///< of samples
    std::uint32_t slots;
    cf32* symbols;  ///< (slots, count)
    float* noise_variance;
};

/// Load the kernels on the current device.
void prepare_receiver_kernels();

/// Start a kernel on the current device.
void erase_disturbed(const DisturbanceJob& job, cudaStream_t stream);
void summarise(const SummaryJob& job, cudaStream_t stream);
void average_channel(const ChannelJob& job, cudaStream_t stream);
void take_samples(const SamplesJob& job, cudaStream_t stream);

}  // namespace phy::gpu::detail
