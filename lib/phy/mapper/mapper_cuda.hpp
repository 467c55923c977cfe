#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/constellation.hpp"
#include "phy/core/export.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/mapper/mapper.hpp"

namespace phy::gpu {

/// Maps bits in device memory to the constellations of TS 38.211 clause 5.1. The bytes are those of
/// phy::Mapper.
///
/// A call only starts a kernel on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Any length and any alignment will do; it is fastest where symbols lie at a
/// multiple of their size. Bits and symbols are in memory that the device can reach, do not overlap, and stay
/// there until the work is done. Immutable, so one mapper may be used from many threads.
class PHY_EXPORT Mapper {
public:
    using Config = phy::Mapper::Config;

    /// Throws ArgumentError if full_scale is given and not finite and positive, or if a modulation or packing
    /// was cast from a number that names none.
    Mapper(const Device& device, const Config& config);

    /// Writes symbols.size() symbols on the stream, which belongs to the device. Sizes, formats, first_symbol
    /// and errors as in phy::Mapper.
    void operator()(DeviceSpan<const std::uint8_t> bits, SymbolSpan symbols, cudaStream_t stream,
                    std::uint64_t first_symbol = 0) const;

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Device device_;
    Config config_;
    int multiprocessors_ = 0;
    /// By SampleFormat; see cuda/launch.hpp.
    std::array<std::array<std::uint32_t, std::size_t{1} << max_axis_bits>, all_sample_formats.size()>
        axis_values_{};
};

}  // namespace phy::gpu
