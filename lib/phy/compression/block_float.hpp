#pragma once

#include <cstddef>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"

/// Block floating point of resource elements on a fronthaul (O-RAN.WG4.CUS annex A.1): the 12 elements of a
/// resource block are 24 integers of a few bits, the mantissas, which share an exponent.
///
/// A compressed resource block is a byte udCompParam, of which the lower four bits are the exponent and the
/// upper four are reserved, and the mantissas: of subcarrier 0 I, then Q, of subcarrier 1 I ... Each is a
/// signed integer of `width` bits, most significant bit first, and no bit lies between two. That is
/// 1 + 3 x width bytes. Resource blocks follow each other without gaps.
namespace phy {

/// Resource elements of a resource block.
inline constexpr std::size_t elements_per_block = 12;

struct PHY_EXPORT BlockFloatConfig {
    int width = 9;  ///< bits of a mantissa, from 1 to 16
    bool has_exponent =
        true;  ///< false: fixed point ("no compression"), no udCompParam, and the exponent is 0
    float full_scale = 0.0F;  ///< elements in cf32: the integer that is 1.0; 0 means 32768

    friend bool operator==(const BlockFloatConfig&, const BlockFloatConfig&) = default;
};

/// Bytes of a compressed resource block.
constexpr std::size_t bytes_per_block(const BlockFloatConfig& config) {
    return 3 * static_cast<std::size_t>(config.width) + (config.has_exponent ? 1 : 0);
}

/// Compressed resource blocks to elements in ci16 or cf32. A component is the integer mantissa x 2^exponent:
/// in ci16 limited to what 16 bits hold, in cf32 divided by the full scale (as a product with its reciprocal
/// in binary32, with one rounding). The reserved bits do not matter. Every backend and number of threads
/// gives the same bytes.
///
/// The threads of the host share a call. Immutable, so one decompressor may be used from many threads.
class PHY_EXPORT BlockFloatDecompressor {
public:
    using Config = BlockFloatConfig;

    /// Throws ArgumentError if the width is out of its range, or if full_scale is neither 0 nor from 2^-126
    /// to 2^126.
    BlockFloatDecompressor(const Host& host, const Config& config);

    /// elements are whole resource blocks, in ci16 or cf32, and compressed has their bytes (ArgumentError).
    /// Both may lie anywhere and do not overlap. Allocates nothing.
    void operator()(std::span<const std::byte> compressed, SymbolSpan elements) const;

    [[nodiscard]] const Host& host() const { return host_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Host host_;
    Config config_;
};

/// Elements in ci16 or cf32 to compressed resource blocks. Components in cf32 become integers first: times
/// the full scale, rounded to the nearest (of two, the even one), limited to 16 bits; NaN is 0. The exponent
/// is the smallest with which all mantissas fit: max(0, 1 + bits - width), where bits is how many the largest
/// of x and -x - 1 over all components has. A mantissa is the component shifted right by the exponent, so
/// that it is rounded down. Without exponents components are limited to what `width` bits hold.
///
/// The threads of the host share a call. Immutable, so one compressor may be used from many threads.
class PHY_EXPORT BlockFloatCompressor {
public:
    using Config = BlockFloatConfig;

    /// Throws ArgumentError as BlockFloatDecompressor does.
    BlockFloatCompressor(const Host& host, const Config& config);

    /// As the call of BlockFloatDecompressor, the other way.
    void operator()(SymbolView elements, std::span<std::byte> compressed) const;

    [[nodiscard]] const Host& host() const { return host_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Host host_;
    Config config_;
};

}  // namespace phy
