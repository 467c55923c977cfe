#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/receiver/receiver.hpp"

namespace phy::gpu {

/// phy::ReceiverOutput in memory that the device can reach.
struct PHY_EXPORT ReceiverOutput {
    SoftBitSpan llr = {};
    DeviceSpan<ReceivedSlot> slots = {};
    DeviceSpan<cf32> symbols = {};
    DeviceSpan<float> noise_variance = {};
    DeviceSpan<cf32> channel = {};
};

/// Samples or resource grids in device memory to soft bits there, with the same bytes as phy::Receiver.
///
/// A call starts kernels on the caller's stream, and on a second stream that the caller's stream then waits
/// for. It returns at once, allocates nothing, does not wait, and can be captured in a graph, which keeps the
/// numbers of the slots. All arrays must be in memory that the device can reach, must not overlap, and must
/// stay valid until the work is done. Arrays that begin at multiples of 16 bytes are fastest. The latency of
/// one slot is lowest if samples and soft bits lie in page-locked host memory: the receiver then estimates
/// the channel while symbols without DM-RS are being copied. A receiver has one workspace: its calls must not
/// run on several streams at a time.
class PHY_EXPORT Receiver {
public:
    using Config = ReceiverConfig;

    /// Allocates on the device the tables that all slots share and the workspace for calls of up to max_slots
    /// slots. Throws as phy::Receiver does, and CudaError if there is not enough memory.
    Receiver(const Device& device, const Config& config, std::size_t max_slots);
    ~Receiver();
    Receiver(Receiver&&) noexcept;
    Receiver& operator=(Receiver&&) noexcept;

    /// As in phy::Receiver.
    [[nodiscard]] std::size_t input_per_slot() const;
    [[nodiscard]] std::size_t soft_bits_per_slot() const;
    [[nodiscard]] std::size_t symbols_per_slot() const;
    [[nodiscard]] std::size_t channel_per_slot() const;
    [[nodiscard]] const SlotSchedule& schedule() const;

    /// As in phy::Receiver, on a stream of the device. Also throws ArgumentError for more than max_slots
    /// slots, and for a grid that is not aligned to the size of its elements.
    void operator()(SymbolView input, std::uint64_t first, const ReceiverOutput& output,
                    cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;
    [[nodiscard]] std::size_t max_slots() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::Receiver"> impl_;
};

}  // namespace phy::gpu
