#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

/// Input that depends on nothing but this code: integer arithmetic of its own, and nothing of phy.
namespace phy_test {

using Bytes = std::vector<std::byte>;

/// Symbols as they lie in memory, and an N0 for each.
struct Signal {
    std::size_t symbols = 0;
    Bytes samples;
    std::vector<float> noise;
};

/// Noisy symbols of a modulation in a sample format. About one component of 40 is a NaN, infinite, zero, huge
/// or tiny, as far as the format has such values; and so is about one N0 of 30.
Signal make_signal(std::string_view modulation, std::string_view format, std::size_t symbols);

/// Random bytes, for bits one a byte and packed.
std::vector<std::uint8_t> make_bits(std::size_t bytes);

/// FNV-1a.
std::uint64_t digest_of(const Bytes& bytes);

}  // namespace phy_test
