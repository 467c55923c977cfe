#pragma once

#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/scrambling/scrambler.hpp"

/// Gold sequences, scrambling and descrambling in device memory. The bytes are those of the host's.
///
/// A call takes codewords of one length, one after another, such as those of the slots of a batch, and the
/// c_init of each: an array in device memory, of whose values the lowest 31 bits count, or one number. It is
/// one launch on the caller's stream, which belongs to the device: it returns at once, allocates nothing,
/// does not wait, and can be captured in a graph, where c_init in device memory may change between launches.
/// All arrays are in memory that the device can reach, and stay there until the work is done.
///
/// Any length and any alignment will do; it is fastest where each codeword begins at a multiple of 16 bytes.
/// Sizes and `first` as on the host; ArgumentError for wrong ones, and for a number of more than 31 bits.
namespace phy::gpu {

/// phy::gold_sequence() for each c_init: words.size() / c_init.size() words of it, one sequence after
/// another.
PHY_EXPORT void gold_sequence(const Device& device, DeviceSpan<const std::uint32_t> c_init,
                              std::uint64_t first, DeviceSpan<std::uint32_t> words, cudaStream_t stream);
PHY_EXPORT void gold_sequence(const Device& device, std::uint32_t c_init, std::uint64_t first,
                              DeviceSpan<std::uint32_t> words, cudaStream_t stream);

/// See phy::Scrambler. Immutable, so one scrambler may be used from many threads.
class PHY_EXPORT Scrambler {
public:
    explicit Scrambler(const Device& device) : device_(device) {}

    /// Both arrays may be the same; else they do not overlap.
    void operator()(DeviceSpan<const std::uint32_t> c_init, DeviceSpan<const std::uint8_t> bits,
                    DeviceSpan<std::uint8_t> scrambled, cudaStream_t stream, std::uint64_t first = 0) const;
    void operator()(std::uint32_t c_init, DeviceSpan<const std::uint8_t> bits,
                    DeviceSpan<std::uint8_t> scrambled, cudaStream_t stream, std::uint64_t first = 0) const;

    [[nodiscard]] const Device& device() const { return device_; }

private:
    Device device_;
};

/// See phy::Descrambler. Immutable, so one descrambler may be used from many threads.
class PHY_EXPORT Descrambler {
public:
    explicit Descrambler(const Device& device) : device_(device) {}

    /// Both arrays may be the same; else they do not overlap.
    void operator()(DeviceSpan<const std::uint32_t> c_init, SoftBitView scrambled, SoftBitSpan llr,
                    cudaStream_t stream, std::uint64_t first = 0) const;
    void operator()(std::uint32_t c_init, SoftBitView scrambled, SoftBitSpan llr, cudaStream_t stream,
                    std::uint64_t first = 0) const;

    [[nodiscard]] const Device& device() const { return device_; }

private:
    Device device_;
};

}  // namespace phy::gpu
