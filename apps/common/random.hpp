#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>

namespace phy::apps {

/// One of many independent sequences of random numbers for a seed. Elements have random access (SplitMix64 of
/// a counter), so results do not depend on how draws are cut into pieces.
class RandomSequence {
public:
    RandomSequence(std::uint64_t seed, std::uint64_t sequence) : key_(mix(mix(seed) + sequence)) {}

    /// 64 uniform bits.
    [[nodiscard]] std::uint64_t bits(std::uint64_t index) const { return mix(key_ + index * weyl_step); }

    /// Uniform in (0, 1].
    [[nodiscard]] double uniform(std::uint64_t index) const {
        return static_cast<double>((bits(index) >> 11) + 1) * 0x1p-53;
    }

    /// Circular complex Gaussian of unit variance (Box-Muller).
    [[nodiscard]] std::complex<double> gaussian(std::uint64_t index) const {
        const double radius = std::sqrt(-std::log(uniform(2 * index)));
        return std::polar(radius, 2.0 * std::numbers::pi * uniform(2 * index + 1));
    }

private:
    static constexpr std::uint64_t weyl_step = 0x9E3779B97F4A7C15U;

    static constexpr std::uint64_t mix(std::uint64_t word) {
        word += weyl_step;
        word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9U;
        word = (word ^ (word >> 27)) * 0x94D049BB133111EBU;
        return word ^ (word >> 31);
    }

    std::uint64_t key_;
};

}  // namespace phy::apps
