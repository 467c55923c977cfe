// The effect of decisions on gain and noise, and its inverse.

#include <algorithm>
#include <cmath>
#include <numbers>

#include "phy/core/check.hpp"
#include "phy/core/constellation.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy {
namespace {

Modulation checked(Modulation modulation) {
    detail::check_enum("modulation", modulation, all_modulations.back());
    return modulation;
}

double density(double x) {
    return detail::elementary::exp(-0.5 * x * x) / std::sqrt(2.0 * std::numbers::pi);
}

/// The mass above x, accurate for small values.
double tail(double x) {
    return 0.5 * detail::elementary::erfc(x / std::numbers::sqrt2);
}

/// The part of a normal distribution with this mean and standard deviation beyond a border.
struct Border {
    Border(double mean, double deviation, double at)
        : is_above((at - mean) / deviation > 0.0),
          beyond(tail(std::abs(at - mean) / deviation)),
          height(density((at - mean) / deviation)) {}
    /// An infinite border.
    explicit Border(bool above) : is_above(above), beyond(0.0), height(0.0) {}

    bool is_above;  ///< the mean is below it
    double beyond;  ///< the mass on the side where the mean is not
    double height;
};

/// Accurate for small values.
double mass_between(const Border& from, const Border& to) {
    if (from.is_above) return from.beyond - to.beyond;
    return to.is_above ? 1.0 - from.beyond - to.beyond : to.beyond - from.beyond;
}

/// An axis with the levels +-1, +-3 ... and Gaussian noise.
class Axis {
public:
    explicit Axis(int bits) : levels_(1 << bits) {}

    /// Expected results of least squares of the axis against decided levels; the mean squares of the
    /// difference between the axis and those levels, and of the levels.
    struct Expected {
        double gain;
        double variance;
        double error;
        double decided;
    };
    [[nodiscard]] Expected expected(double gain, double variance) const {
        const double deviation = std::sqrt(variance);
        double product = 0.0;
        double decided = 0.0;
        double power = 0.0;
        // The lower half of the levels mirrors the upper one.
        for (int sent = levels_ / 2; sent < levels_; ++sent) {
            const double mean = gain * level(sent);
            power += mean * mean + variance;
            Border from(false);
            for (int at = 0; at < levels_; ++at) {
                const Border to = at == levels_ - 1 ? Border(true) : Border(mean, deviation, level(at) + 1.0);
                const double mass = mass_between(from, to);
                product += level(at) * (mean * mass - deviation * (to.height - from.height));
                decided += level(at) * level(at) * mass;
                from = to;
            }
        }
        power /= 0.5 * levels_;
        product /= 0.5 * levels_;
        decided /= 0.5 * levels_;
        return {product / decided, power - product * product / decided, power - 2.0 * product + decided,
                decided};
    }

private:
    [[nodiscard]] double level(int index) const { return 2.0 * index - (levels_ - 1); }

    int levels_;
};

/// An axis of the modulation, and the variance on it in units of its levels, for N0 = 1. BPSK has its levels
/// +-1 on the diagonal. The noise across it is always part of the error.
struct Axes {
    explicit Axes(Modulation modulation)
        : diagonal(bits_per_symbol(modulation) == 1),
          axis(static_cast<int>(bits_per_axis(modulation))),
          unit(diagonal ? 0.5 : 0.5 * static_cast<double>(inverse_power(bits_per_axis(modulation)))) {}

    /// The noise of a symbol, for this variance or mean square on an axis.
    [[nodiscard]] double of_symbol(double of_axis, double noise) const {
        return diagonal ? of_axis + 0.5 * noise : of_axis / unit;
    }

    bool diagonal;
    Axis axis;
    double unit;
};

}  // namespace

ExpectedDecisions expected_decisions(Modulation modulation, const GainAndNoise& symbols) {
    // Below this, a normal distribution cannot be distinguished from a point.
    constexpr double min_noise = 1e-16;
    const Axes axes(checked(modulation));
    const double noise = std::max(symbols.noise_variance, min_noise);
    const Axis::Expected expected = axes.axis.expected(symbols.gain, noise * axes.unit);
    return {axes.of_symbol(expected.error, noise), axes.of_symbol(expected.decided, 0.0)};
}

GainAndNoise correct_decisions(Modulation modulation, const GainAndNoise& measured) {
    const Axes axes(checked(modulation));
    if (!(measured.noise_variance > 0.0) || !std::isfinite(measured.noise_variance) ||
        !std::isfinite(measured.gain))
        return measured;
    GainAndNoise found = measured;
    constexpr int max_turns = 300;
    for (int turn = 0; turn < max_turns; ++turn) {
        const Axis::Expected expected = axes.axis.expected(found.gain, found.noise_variance * axes.unit);
        const double gain_ratio = measured.gain / expected.gain;
        const double noise_ratio =
            measured.noise_variance / axes.of_symbol(expected.variance, found.noise_variance);
        found.gain *= gain_ratio;
        found.noise_variance *= noise_ratio;
        if (std::abs(gain_ratio - 1.0) < 1e-7 && std::abs(noise_ratio - 1.0) < 1e-7) break;
    }
    return found;
}

}  // namespace phy
