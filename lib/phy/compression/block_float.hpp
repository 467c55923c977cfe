#pragma once

#include <cstddef>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/full_scale.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/machine/host.hpp"

/// Block floating point of resource elements on a fronthaul (O-RAN.WG4.CUS annex A.1). The 12 elements of a
/// resource block are 24 integers of a few bits, the mantissas, with a common exponent.
///
/// A compressed resource block is the byte udCompParam (exponent in the lower four bits, upper four reserved)
/// and the mantissas: I then Q of subcarrier 0, I then Q of subcarrier 1, and so on. Each mantissa is a
/// signed integer of `width` bits, most significant bit first, without padding: 1 + 3 x width bytes. Resource
/// blocks follow each other without gaps.
namespace phy {

/// Resource elements per resource block.
inline constexpr std::size_t elements_per_block = 12;

struct PHY_EXPORT BlockFloatConfig {
    int width = 9;  ///< bits per mantissa, from 1 to 16
    bool has_exponent =
        true;  ///< false: fixed point ("no compression"), no udCompParam, and the exponent is 0
    FullScale full_scale = {};  ///< of the integers, for elements in cf32; default: 32768

    friend bool operator==(const BlockFloatConfig&, const BlockFloatConfig&) = default;
};

/// Bytes per compressed resource block.
constexpr std::size_t bytes_per_block(const BlockFloatConfig& config) {
    return 3 * static_cast<std::size_t>(config.width) + (config.has_exponent ? 1 : 0);
}

/// Decompresses resource blocks to elements in ci16 or cf32. A component is the integer mantissa x
/// 2^exponent, in ci16 limited to 16 bits, in cf32 multiplied by the reciprocal of the full scale (in
/// binary32, with one rounding). Reserved bits are ignored. Every backend and number of threads gives the
/// same bytes.
///
/// The threads of the host share a call. Immutable, so many threads may use one decompressor.
class PHY_EXPORT BlockFloatDecompressor {
public:
    using Config = BlockFloatConfig;

    /// Throws ArgumentError if width is out of range.
    BlockFloatDecompressor(const Host& host, const Config& config);

    /// Decompresses into elements: whole resource blocks in ci16 or cf32. compressed: bytes_per_block() for
    /// each of them. Both may have any alignment and must not overlap. Throws ArgumentError for other sizes
    /// and formats. Allocates nothing.
    void operator()(std::span<const std::byte> compressed, SymbolSpan elements) const;

    [[nodiscard]] const Host& host() const { return host_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Host host_;
    Config config_;
};

/// Compresses elements in ci16 or cf32 to resource blocks. cf32 components first become integers: multiplied
/// by the full scale, rounded half to even, limited to 16 bits; NaN becomes 0. The exponent is the smallest
/// with which all mantissas fit: max(0, 1 + bits - width), where bits is the number of bits of the largest x
/// or -x - 1 of all components x. A mantissa is the component shifted right by the exponent, and so rounded
/// down. Without exponents components are limited to `width` bits.
///
/// The threads of the host share a call. Immutable, so many threads may use one compressor.
class PHY_EXPORT BlockFloatCompressor {
public:
    using Config = BlockFloatConfig;

    /// Throws ArgumentError as BlockFloatDecompressor does.
    BlockFloatCompressor(const Host& host, const Config& config);

    /// As BlockFloatDecompressor::operator(), in the other direction.
    void operator()(SymbolView elements, std::span<std::byte> compressed) const;

    [[nodiscard]] const Host& host() const { return host_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Host host_;
    Config config_;
};

}  // namespace phy

namespace phy::gpu {

/// Decompresses resource blocks in device memory. Output bytes are those of phy::BlockFloatDecompressor.
///
/// A call starts a kernel on the caller's stream. It returns at once, does not allocate or wait, and can be
/// captured in a graph. Both arrays must be accessible to the device, must not overlap, and must stay valid
/// until the work is done. Compressed bytes may have any alignment; both arrays at multiples of 16 bytes are
/// fastest. Immutable, so many threads may use one decompressor.
class PHY_EXPORT BlockFloatDecompressor {
public:
    using Config = BlockFloatConfig;

    /// Throws ArgumentError as phy::BlockFloatDecompressor does.
    BlockFloatDecompressor(const Device& device, const Config& config);

    /// As in phy::BlockFloatDecompressor, on a stream of the device. Elements are aligned to their
    /// components.
    void operator()(DeviceSpan<const std::byte> compressed, SymbolSpan elements, cudaStream_t stream) const;

    [[nodiscard]] const Device& device() const { return device_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Device device_;
    Config config_;
};

}  // namespace phy::gpu
