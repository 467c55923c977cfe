#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <vector>

#include "phy/core/modulation.hpp"
#include "phy/demapper/demapper.hpp"
#include "support/equations.hpp"

/// A reference demapper in double precision, from the definition of an LLR only.
namespace phy_test {

/// All points of a constellation by label, b0 the most significant bit.
inline std::vector<std::complex<double>> all_points(phy::Modulation modulation, std::uint64_t index) {
    const std::size_t qm = bits_per_symbol(modulation);
    std::vector<std::complex<double>> points(std::size_t{1} << qm);
    std::vector<std::uint8_t> bits(qm);
    for (std::size_t label = 0; label < points.size(); ++label) {
        for (std::size_t k = 0; k < qm; ++k) {
            bits[k] = static_cast<std::uint8_t>(label >> (qm - 1 - k) & 1U);
        }
        points[label] = symbol_of(modulation, bits, index);
    }
    return points;
}

/// The candidates with a bit of 0 and those with a bit of 1.
struct Hypotheses {
    std::vector<std::size_t> zero;
    std::vector<std::size_t> one;
};

/// L = ln P(b=0)/P(b=1) of a bit; metrics: |y-s|^2/N0 of all candidates.
inline double llr(phy::Method method, const std::vector<double>& metrics, const Hypotheses& bit) {
    const auto nearest = [&](const std::vector<std::size_t>& candidates) {
        double smallest = std::numeric_limits<double>::infinity();
        for (const std::size_t n : candidates)
            smallest = std::min(smallest, metrics[n]);
        return smallest;
    };
    const double zero = nearest(bit.zero);
    const double one = nearest(bit.one);
    if (method == phy::Method::max_log) return one - zero;
    const auto sum = [&](const std::vector<std::size_t>& candidates, double smallest) {
        double total = 0.0;
        for (const std::size_t n : candidates)
            total += std::exp(smallest - metrics[n]);
        return total;
    };
    return one - zero + std::log(sum(bit.zero, zero) / sum(bit.one, one));
}

using SoftBits = std::array<double, 10>;

/// Soft bits over all points of the constellation.
class PlaneReference {
public:
    PlaneReference(phy::Modulation modulation, std::uint64_t index)
        : points_(all_points(modulation, index)),
          bits_(bits_per_symbol(modulation)),
          metrics_(points_.size()) {
        for (std::size_t label = 0; label < points_.size(); ++label) {
            for (std::size_t k = 0; k < bits_.size(); ++k) {
                const bool is_one = (label >> (bits_.size() - 1 - k) & 1U) != 0;
                (is_one ? bits_[k].one : bits_[k].zero).push_back(label);
            }
        }
    }

    SoftBits operator()(phy::Method method, std::complex<double> y, double noise) {
        for (std::size_t n = 0; n < points_.size(); ++n)
            metrics_[n] = std::norm(y - points_[n]) / noise;
        SoftBits soft_bits{};
        for (std::size_t k = 0; k < bits_.size(); ++k)
            soft_bits[k] = llr(method, metrics_, bits_[k]);
        return soft_bits;
    }

private:
    std::vector<std::complex<double>> points_;
    std::vector<Hypotheses> bits_;
    std::vector<double> metrics_;
};

/// Soft bits over the levels of one axis of a square constellation.
class AxisReference {
public:
    /// From the points whose bits on the other axis are all 0.
    AxisReference(phy::Modulation modulation, bool quadrature) : bits_(bits_per_symbol(modulation) / 2) {
        const auto points = all_points(modulation, 0);
        for (std::size_t n = 0; n < std::size_t{1} << bits_.size(); ++n) {
            std::size_t label = 0;
            for (std::size_t k = 0; k < bits_.size(); ++k) {
                const std::size_t bit = n >> k & 1U;
                label |= bit << (2 * (bits_.size() - 1 - k) + (quadrature ? 0 : 1));
                (bit != 0 ? bits_[k].one : bits_[k].zero).push_back(n);
            }
            levels_.push_back(quadrature ? points[label].imag() : points[label].real());
        }
        metrics_.resize(levels_.size());
    }

    /// Writes every other soft bit from the given one on.
    void operator()(phy::Method method, double y, double noise, double* soft_bits) {
        for (std::size_t n = 0; n < levels_.size(); ++n) {
            metrics_[n] = (y - levels_[n]) * (y - levels_[n]) / noise;
        }
        for (std::size_t k = 0; k < bits_.size(); ++k)
            soft_bits[2 * k] = llr(method, metrics_, bits_[k]);
    }

private:
    std::vector<Hypotheses> bits_;
    std::vector<double> levels_;
    std::vector<double> metrics_;
};

/// The fastest reference for a modulation: by axes if they separate.
class Reference {
public:
    explicit Reference(phy::Modulation modulation)
        : is_square_(bits_per_symbol(modulation) > 1), even_(modulation, 0), odd_(modulation, 1) {
        if (!is_square_) return;
        axes_ = {AxisReference(modulation, false), AxisReference(modulation, true)};
    }

    SoftBits operator()(phy::Method method, std::complex<double> y, double noise, std::uint64_t index) {
        if (!is_square_) return (index % 2 == 0 ? even_ : odd_)(method, y, noise);
        SoftBits soft_bits{};
        axes_[0](method, y.real(), noise, soft_bits.data());
        axes_[1](method, y.imag(), noise, soft_bits.data() + 1);
        return soft_bits;
    }

private:
    bool is_square_;
    PlaneReference even_;
    PlaneReference odd_;
    std::vector<AxisReference> axes_;
};

/// The int8 soft bit of an LLR.
inline int quantised(double llr_value, double scale, int clip) {
    return static_cast<int>(std::clamp<double>(std::nearbyint(llr_value * scale), -clip, clip));
}

}  // namespace phy_test
