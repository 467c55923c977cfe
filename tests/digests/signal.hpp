#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// Inputs that depend on this code only: integer arithmetic, independent of phy.
namespace phy_test {

using Bytes = std::vector<std::byte>;

/// Stored symbols, and one N0 per symbol.
struct Signal {
    std::size_t symbols = 0;
    Bytes samples;
    std::vector<float> noise;
};

/// Noisy symbols of a modulation in a sample format. About one component in 40 and one N0 in 30 is NaN,
/// infinite, zero, huge or tiny, as far as the format has such values.
Signal make_signal(std::string_view modulation, std::string_view format, std::size_t symbols);

/// Random bytes, for bits that are one per byte or packed.
std::vector<std::uint8_t> make_bits(std::size_t bytes);

/// FNV-1a.
std::uint64_t digest_of(const Bytes& bytes);

}  // namespace phy_test
