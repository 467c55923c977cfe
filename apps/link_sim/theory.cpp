#include "link_sim/theory.hpp"

#include <cmath>
#include <numbers>

#include "phy/core/constellation.hpp"

namespace phy::apps {
namespace {

/// The bit error rate of an axis. beyond(distance) is the probability that noise moves a symbol by more than
/// that distance to one side, in units of A.
template <typename Beyond>
double axis_bit_error_rate(int m, Beyond beyond) {
    const int levels = 1 << m;
    double sum = 0.0;
    for (int bit = 0; bit < m; ++bit) {
        for (int sent = 0; sent < levels; ++sent) {
            const auto wrong = [&](int level) {
                return axis_label_bit(m, level, bit) == axis_label_bit(m, sent, bit) ? 0 : 1;
            };
            // Moving away from the sent level, the bit becomes wrong or right again at boundaries between
            // levels. Summing in this order avoids small differences of large numbers.
            for (int level = sent; level + 1 < levels; ++level)
                sum += (wrong(level + 1) - wrong(level)) * beyond(2 * (level - sent) + 1);
            for (int level = sent; level > 0; --level)
                sum += (wrong(level - 1) - wrong(level)) * beyond(2 * (sent - level) + 1);
        }
    }
    return sum / (m * levels);
}

/// distance^2 A^2 Es/N0: the squared distance in units of twice the noise variance of an axis.
double squared(Modulation modulation, int distance, double es_n0) {
    // The one bit of BPSK is on both axes.
    const double axes = bits_per_symbol(modulation) == 1 ? 2.0 : 1.0;
    const double amplitude = distance * axis_unit(modulation);
    return axes * amplitude * amplitude * es_n0;
}

/// The mean of Q(sqrt(2 x)), where x is the sum of `branches` exponentially distributed numbers with that
/// mean.
double mean_q(double mean, int branches) {
    const double mu = std::sqrt(mean / (1.0 + mean));
    const double less = 0.5 / ((1.0 + mean) * (1.0 + mu));  // (1 - mu) / 2
    double term = 1.0;
    double sum = 0.0;
    for (int k = 0; k < branches; ++k) {
        sum += term;
        term *= (1.0 - less) * (branches + k) / (k + 1);
    }
    return std::pow(less, branches) * sum;
}

}  // namespace

double bit_error_rate(Modulation modulation, double es_n0) {
    return axis_bit_error_rate(static_cast<int>(bits_per_axis(modulation)), [&](int distance) {
        return 0.5 * std::erfc(std::sqrt(squared(modulation, distance, es_n0)));
    });
}

double rayleigh_bit_error_rate(Modulation modulation, double es_n0, int branches) {
    return axis_bit_error_rate(static_cast<int>(bits_per_axis(modulation)), [&](int distance) {
        return mean_q(squared(modulation, distance, es_n0), branches);
    });
}

}  // namespace phy::apps
