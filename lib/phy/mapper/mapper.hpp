#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phy/core/constellation.hpp"
#include "phy/core/export.hpp"
#include "phy/core/full_scale.hpp"
#include "phy/core/modulation.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// How the mapper's input bits are stored.
enum class BitPacking {
    one_per_byte,  ///< one bit per byte, 0 or 1; other bits of the byte are ignored
    packed,        ///< eight bits per byte, the first in the most significant bit
};

/// Maps bits to the constellations of TS 38.211 clause 5.1: unit mean power, even bits of a symbol on I, odd
/// bits on Q. The threads of the host share a call. Immutable, so many threads may use one mapper.
class PHY_EXPORT Mapper {
public:
    struct Config {
        Modulation modulation = Modulation::qpsk;
        BitPacking packing = BitPacking::one_per_byte;

        /// The integer that stands for 1.0 in ci16 output; other formats do not use it. Components are
        /// rounded half to even and limited to +-32767. 8192 leaves 12 dB above unit mean power. Required for
        /// ci16, because the demapper's default of 32768 would clip outer points. Give the demapper the same
        /// value.
        std::optional<FullScale> full_scale = {};
    };

    /// Throws ArgumentError if modulation or packing is out of range.
    Mapper(const Host& host, const Config& config);

    /// Moving copies too: a moved-from Mapper stays usable.
    Mapper(const Mapper&) = default;
    Mapper& operator=(const Mapper&) = default;
    ~Mapper() = default;

    /// Maps symbols.size() * Qm bits to symbols. bits: one byte per bit for one_per_byte; one byte per 8
    /// bits, rounded up, for packed (trailing bits are ignored). symbols: cf32, cf16 or, with a full_scale,
    /// ci16. first_symbol: index i of the first symbol in its sequence; pi/2-BPSK needs its parity if a
    /// sequence is mapped in pieces. Throws ArgumentError for other formats and sizes.
    void operator()(std::span<const std::uint8_t> bits, SymbolSpan symbols,
                    std::uint64_t first_symbol = 0) const;

    [[nodiscard]] const Host& host() const { return host_; }
    [[nodiscard]] const Config& config() const { return config_; }

private:
    Host host_;
    Config config_;
    std::vector<ci16> integer_points_;  ///< with a full_scale
};

/// Packs bits that are stored one per byte: eight per byte, first bit most significant. Fills the last byte
/// with zeros. Throws ArgumentError unless packed.size() is (bits.size() + 7) / 8.
PHY_EXPORT void pack_bits(std::span<const std::uint8_t> bits, std::span<std::uint8_t> packed);

/// Inverse of pack_bits() for bits.size() bits. Throws ArgumentError unless packed.size() is (bits.size() +
/// 7) / 8.
PHY_EXPORT void unpack_bits(std::span<const std::uint8_t> packed, std::span<std::uint8_t> bits);

}  // namespace phy

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
