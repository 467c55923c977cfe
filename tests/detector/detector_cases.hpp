#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "demapper/reference.hpp"
#include "demapper/signals.hpp"
#include "phy/detector/detector.hpp"

/// Elements with two layers, and the likelihoods of all pairs of points in binary64.
namespace phy_test {

using Complex = std::complex<double>;
using phy::LayerPair;

inline constexpr std::array two_layer_modulations = {phy::Modulation::qpsk, phy::Modulation::qam16,
                                                     phy::Modulation::qam64, phy::Modulation::qam256,
                                                     phy::Modulation::qam1024};

/// A received element: columns of the channel and samples, in units of the noise's amplitude.
struct ReceivedElement {
    std::vector<Complex> h[2];
    std::vector<Complex> y;

    [[nodiscard]] static Complex product(const std::vector<Complex>& a, const std::vector<Complex>& b) {
        Complex sum;
        for (std::size_t i = 0; i < a.size(); ++i)
            sum += std::conj(a[i]) * b[i];
        return sum;
    }

    [[nodiscard]] LayerPair pair() const {
        return {.matched = {phy::cf32(product(h[0], y)), phy::cf32(product(h[1], y))},
                .power = {static_cast<float>(product(h[0], h[0]).real()),
                          static_cast<float>(product(h[1], h[1]).real())},
                .cross = phy::cf32(product(h[1], h[0]))};
    }

    [[nodiscard]] double largest() const {
        return std::max({product(h[0], h[0]).real(), product(h[1], h[1]).real(), std::abs(product(h[0], y)),
                         std::abs(product(h[1], y))});
    }
};

/// How unlike the columns of a channel are.
enum class Columns { apart, alike, parallel, one_missing };

/// Fading of an SNR drawn from -10 to 40 dB, with points of the constellation and noise.
class RandomElements {
public:
    RandomElements(phy::Modulation modulation, unsigned seed)
        : points_(all_points(modulation, 0)), random_(seed) {}

    ReceivedElement next(Columns columns) {
        const std::size_t antennas = 2 + random_() % 3;
        const double amplitude = std::pow(10.0, std::uniform_real_distribution(-0.5, 2.0)(random_));
        ReceivedElement element;
        const Complex factor = gauss();
        for (std::size_t a = 0; a < antennas; ++a) {
            const Complex first = amplitude * gauss();
            const Complex second = amplitude * gauss();
            element.h[0].push_back(first);
            element.h[1].push_back(columns == Columns::apart      ? second
                                   : columns == Columns::alike    ? factor * first + 0.01 * second
                                   : columns == Columns::parallel ? factor * first
                                                                  : Complex());
        }
        const Complex sent[2] = {points_[random_() % points_.size()], points_[random_() % points_.size()]};
        for (std::size_t a = 0; a < antennas; ++a)
            element.y.push_back(element.h[0][a] * sent[0] + element.h[1][a] * sent[1] + gauss());
        return element;
    }

private:
    Complex gauss() { return {normal_(random_), normal_(random_)}; }

    std::vector<Complex> points_;
    std::mt19937 random_;
    std::normal_distribution<double> normal_{0.0, std::sqrt(0.5)};
};

/// The least metric over the points of the other layer, for each point of a layer.
inline std::vector<double> metrics_of_pairs(const ReceivedElement& element, int layer,
                                            const std::vector<Complex>& points) {
    const std::vector<Complex>& own = element.h[layer];
    const std::vector<Complex>& other = element.h[1 - layer];
    std::vector<double> least(points.size(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < points.size(); ++i) {
        for (const Complex& point : points) {
            double metric = 0.0;
            for (std::size_t a = 0; a < element.y.size(); ++a)
                metric += std::norm(element.y[a] - own[a] * points[i] - other[a] * point);
            least[i] = std::min(least[i], metric);
        }
    }
    return least;
}

/// The metric with the covariance I + h h^H of the other layer and noise, whose inverse is
/// I - h h^H / (1 + |h|^2).
inline std::vector<double> metrics_in_interference(const ReceivedElement& element, int layer,
                                                   const std::vector<Complex>& points) {
    const std::vector<Complex>& other = element.h[1 - layer];
    std::vector<double> metrics;
    for (const Complex& point : points) {
        std::vector<Complex> rest = element.y;
        for (std::size_t a = 0; a < rest.size(); ++a)
            rest[a] -= element.h[layer][a] * point;
        metrics.push_back(ReceivedElement::product(rest, rest).real() -
                          std::norm(ReceivedElement::product(other, rest)) /
                              (1.0 + ReceivedElement::product(other, other).real()));
    }
    return metrics;
}

/// Max-log LLRs of (layers, bits).
inline std::vector<double> joint_llrs(phy::Modulation modulation, const ReceivedElement& element) {
    const std::vector<Complex> points = all_points(modulation, 0);
    const std::size_t qm = bits_per_symbol(modulation);
    double nearest = std::numeric_limits<double>::infinity();
    for (std::size_t i = 1; i < points.size(); ++i)
        nearest = std::min(nearest, std::norm(points[0] - points[i]));
    std::vector<double> llrs;
    for (const int layer : {0, 1}) {
        const double power = ReceivedElement::product(element.h[1 - layer], element.h[1 - layer]).real();
        const std::vector<double> metrics = power * nearest / 4.0 > 0.5
                                                ? metrics_of_pairs(element, layer, points)
                                                : metrics_in_interference(element, layer, points);
        for (std::size_t b = 0; b < qm; ++b) {
            Hypotheses bit;
            for (std::size_t label = 0; label < points.size(); ++label)
                ((label >> (qm - 1 - b) & 1U) == 0 ? bit.zero : bit.one).push_back(label);
            llrs.push_back(llr(phy::Method::max_log, metrics, bit));
        }
    }
    return llrs;
}

inline Bytes detect(const phy::Host& host, const phy::JointDetectorConfig& config,
                    std::span<const LayerPair> pairs, phy::SoftBitFormat format,
                    std::span<const std::uint32_t> signs = {}, std::span<const std::int8_t> priors = {}) {
    Bytes llr(2 * pairs.size() * bits_per_symbol(config.modulation) * size_of(format));
    phy::JointDetector detector(host, config);
    detector(pairs, {format, std::span(llr)}, signs, priors);
    return llr;
}

/// Of all kinds: certain, likely and none.
inline std::vector<std::int8_t> random_priors(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<std::int8_t> priors(count);
    for (std::int8_t& prior : priors) {
        const int range = std::array{0, 3, 30, 128}[random() % 4];
        prior = static_cast<std::int8_t>(std::clamp(
            static_cast<int>(random() % (2U * static_cast<unsigned>(range) + 1U)) - range, -128, 127));
    }
    return priors;
}

/// Max-log LLRs of (layers, bits) over all pairs of points, less priors (the same, in nats).
inline std::vector<double> llrs_with_priors(phy::Modulation modulation, const ReceivedElement& element,
                                            const std::vector<double>& priors) {
    const std::vector<Complex> points = all_points(modulation, 0);
    const std::size_t qm = bits_per_symbol(modulation);
    const auto is_one = [&](std::size_t label, std::size_t bit) {
        return (label >> (qm - 1 - bit) & 1U) != 0;
    };
    std::vector<double> zero(2 * qm, std::numeric_limits<double>::infinity());
    std::vector<double> one = zero;
    for (std::size_t first = 0; first < points.size(); ++first) {
        for (std::size_t second = 0; second < points.size(); ++second) {
            double metric = 0.0;
            for (std::size_t a = 0; a < element.y.size(); ++a)
                metric += std::norm(element.y[a] - element.h[0][a] * points[first] -
                                    element.h[1][a] * points[second]);
            for (std::size_t bit = 0; bit < qm; ++bit)
                metric +=
                    (is_one(first, bit) ? priors[bit] : 0.0) + (is_one(second, bit) ? priors[qm + bit] : 0.0);
            for (std::size_t bit = 0; bit < 2 * qm; ++bit) {
                const bool is_set = bit < qm ? is_one(first, bit) : is_one(second, bit - qm);
                double& least = is_set ? one[bit] : zero[bit];
                least = std::min(least, metric);
            }
        }
    }
    for (std::size_t bit = 0; bit < 2 * qm; ++bit)
        one[bit] -= zero[bit] + priors[bit];
    return one;
}

/// Usual pairs, and some with numbers of every kind.
inline std::vector<LayerPair> awkward_pairs(phy::Modulation modulation, std::size_t count, unsigned seed) {
    constexpr float bad[] = {0.0F,   -0.0F,  std::numeric_limits<float>::quiet_NaN(),
                             1e-42F, 1e-30F, std::numeric_limits<float>::infinity(),
                             3e38F,  1e25F,  -std::numeric_limits<float>::infinity(),
                             -1.0F,  1e10F,  -3e38F};
    RandomElements elements(modulation, seed);
    std::mt19937 random(seed);
    std::vector<LayerPair> pairs;
    for (std::size_t i = 0; i < count; ++i) {
        LayerPair pair = elements.next(static_cast<Columns>(random() % 4)).pair();
        if (i % 3 == 2) {
            float* const numbers = reinterpret_cast<float*>(&pair);
            for (std::size_t n = 1 + random() % 3; n > 0; --n)
                numbers[random() % 8] = bad[random() % std::size(bad)];
        }
        pairs.push_back(pair);
    }
    return pairs;
}

}  // namespace phy_test
