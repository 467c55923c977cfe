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

/// Maps bits in device memory to the constellations of TS 38.211 clause 5.1. Output bytes are those of
/// phy::Mapper.
///
/// A call starts a kernel on the caller's stream. It returns at once, does not allocate or wait, and can be
/// captured in a graph. Bits and symbols must be accessible to the device, must not overlap, and must stay
/// valid until the work is done. Any alignment works; symbols at multiples of their size are fastest.
/// Immutable, so many threads may use one mapper.
class PHY_EXPORT Mapper {
public:
    using Config = phy::Mapper::Config;

    /// Throws ArgumentError if modulation or packing is out of range.
    Mapper(const Device& device, const Config& config);

    /// Maps bits to symbols on a stream of the device. Sizes, formats, first_symbol and errors are those of
    /// phy::Mapper.
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
