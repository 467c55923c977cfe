// What decisions make of a gain and of noise, and back.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "phy/core/constellation.hpp"
#include "phy/measure/symbol_sums.hpp"

namespace phy {
namespace {

/// The parts of a normal distribution, of the given mean and standard deviation, between two borders.
struct Slice {
    double mass;
    double first;  ///< the integral of y
};

double density(double x) {
    return std::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

/// Above x: accurate where it is small.
double tail(double x) {
    return 0.5 * std::erfc(x / std::numbers::sqrt2);
}

/// An infinite border ends nothing.
Slice slice_of(double mean, double deviation, double from, double to) {
    const double a = (from - mean) / deviation;
    const double b = (to - mean) / deviation;
    const double mass = a > 0.0 ? tail(a) - tail(b) : tail(-b) - tail(-a);
    const double at_a = std::isinf(a) ? 0.0 : density(a);
    const double at_b = std::isinf(b) ? 0.0 : density(b);
    return {mass, mean * mass - deviation * (at_b - at_a)};
}

/// An axis with the levels +-1, +-3 ... and Gaussian noise.
class Axis {
public:
    explicit Axis(int bits) : levels_(1 << bits) {}

    /// What least squares of the axis against decided levels is expected to give.
    struct Expected {
        double gain;
        double variance;
    };
    [[nodiscard]] Expected expected(double gain, double variance) const {
        const double deviation = std::sqrt(variance);
        double product = 0.0;
        double decided = 0.0;
        double power = 0.0;
        for (int sent = 0; sent < levels_; ++sent) {
            const double mean = gain * level(sent);
            power += (mean * mean + variance) / levels_;
            for (int at = 0; at < levels_; ++at) {
                if (is_far(at, mean, deviation)) continue;
                const Slice slice = slice_of(mean, deviation, at == 0 ? -INFINITY : level(at) - 1.0,
                                             at == levels_ - 1 ? INFINITY : level(at) + 1.0);
                product += level(at) * slice.first / levels_;
                decided += level(at) * level(at) * slice.mass / levels_;
            }
        }
        return {product / decided, power - product * product / decided};
    }

private:
    [[nodiscard]] double level(int index) const { return 2.0 * index - (levels_ - 1); }

    [[nodiscard]] bool is_far(int at, double mean, double deviation) const {
        const bool below = at < levels_ - 1 && mean - (level(at) + 1.0) > 9.0 * deviation;
        const bool above = at > 0 && level(at) - 1.0 - mean > 9.0 * deviation;
        return below || above;
    }

    int levels_;
};

}  // namespace

GainAndNoise correct_decisions(Modulation modulation, const GainAndNoise& measured) {
    if (!(measured.noise_variance > 0.0) || !std::isfinite(measured.noise_variance) ||
        !std::isfinite(measured.gain))
        return measured;
    const bool diagonal = bits_per_symbol(modulation) == 1;
    const std::size_t bits = bits_per_axis(modulation);
    const Axis axis(static_cast<int>(bits));
    // The variance on an axis in units of its levels, for N0 = 1. BPSK has its levels +-1 on the diagonal;
    // the noise across it is in the error whatever is decided.
    const double unit = diagonal ? 0.5 : 0.5 * static_cast<double>(inverse_power(bits));
    const auto expected_noise = [&](const Axis::Expected& expected, double noise) {
        return diagonal ? expected.variance + 0.5 * noise : expected.variance / unit;
    };
    GainAndNoise found = measured;
    constexpr int most_turns = 300;
    for (int turn = 0; turn < most_turns; ++turn) {
        const Axis::Expected expected = axis.expected(found.gain, found.noise_variance * unit);
        const double gain_ratio = measured.gain / expected.gain;
        const double noise_ratio = measured.noise_variance / expected_noise(expected, found.noise_variance);
        found.gain *= gain_ratio;
        found.noise_variance *= noise_ratio;
        if (std::abs(gain_ratio - 1.0) < 1e-7 && std::abs(noise_ratio - 1.0) < 1e-7) break;
    }
    return found;
}

}  // namespace phy
