#pragma once

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <numbers>
#include <vector>

#include "estimator/estimator_cases.hpp"

/// The textbook Wiener filter: one dense system over all pilots of a range, in binary64.
namespace phy_test {

/// The correlation of an exponential profile at distances of 0, 1, 2 ... subcarriers.
inline std::vector<Complex> exponential_correlations(const EstimatorConfig& config, double delay_spread) {
    std::vector<Complex> correlations;
    for (int lag = 0; lag < 12 * config.allocation.resource_blocks.front().count; ++lag)
        correlations.push_back(
            1.0 / Complex(1.0, 2.0 * std::numbers::pi * lag * config.subcarrier_spacing * delay_spread));
    return correlations;
}

class DenseWiener {
public:
    /// For layer `layer` in the first range. noise: variance per pilot, for channels of power 1.
    DenseWiener(const EstimatorConfig& config, std::size_t layer, double delay_spread, double noise)
        : config_(config), correlations_(exponential_correlations(config, delay_spread)) {
        const phy::DmrsConfig& dmrs = config.allocation.dmrs;
        const phy::ResourceBlocks range = config.allocation.resource_blocks.front();
        const phy::DmrsPort mine = phy::dmrs_port(dmrs.type, dmrs.ports[layer]);
        const int each = phy::pilots_per_resource_block(dmrs.type);
        for (int i = 0; i < range.count * each; ++i) {
            places_.push_back(12 * (range.first + i / each) +
                              phy::pilot_subcarrier(dmrs.type, mine.cdm_group, i % each));
            mine_.push_back(mine.in_frequency[static_cast<std::size_t>(i % 2)]);
        }
        bool is_pair = false;
        for (const int port : dmrs.ports) {
            const phy::DmrsPort other = phy::dmrs_port(dmrs.type, port);
            is_pair = is_pair || (other.cdm_group == mine.cdm_group && other.in_time == mine.in_time &&
                                  other.in_frequency != mine.in_frequency);
        }
        const std::size_t n = places_.size();
        factor_.assign(n * n, {});
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k <= i; ++k) {
                // After removing a layer's own code, the code of the other in the pair alternates.
                const double of_pair = is_pair ? 1.0 + ((i + k) % 2 == 0 ? 1.0 : -1.0) : 1.0;
                factor_[i * n + k] = of_pair * correlation(places_[i] - places_[k]) + (i == k ? noise : 0.0);
            }
        }
        factorise();
    }

    /// From least squares at the pilots, multiplied by the layer's code.
    [[nodiscard]] std::vector<Complex> estimate(const std::vector<Complex>& pilots) const {
        const std::size_t n = places_.size();
        std::vector<Complex> x(n);
        for (std::size_t i = 0; i < n; ++i)
            x[i] = static_cast<double>(mine_[i]) * pilots[i];
        forward(x);
        for (std::size_t i = n; i-- > 0;) {
            for (std::size_t k = i + 1; k < n; ++k)
                x[i] -= std::conj(factor_[k * n + i]) * x[k];
            x[i] /= factor_[i * n + i].real();
        }
        std::vector<Complex> estimates;
        const phy::ResourceBlocks range = config_.allocation.resource_blocks.front();
        for (int k = 12 * range.first; k < 12 * (range.first + range.count); ++k) {
            Complex sum;
            for (std::size_t i = 0; i < n; ++i)
                sum += correlation(k - places_[i]) * x[i];
            estimates.push_back(sum);
        }
        return estimates;
    }

    /// The theoretical mean square error.
    [[nodiscard]] double expected_error() const {
        double error = 0.0;
        const phy::ResourceBlocks range = config_.allocation.resource_blocks.front();
        for (int k = 12 * range.first; k < 12 * (range.first + range.count); ++k) {
            std::vector<Complex> r;
            for (const int place : places_)
                r.push_back(correlation(place - k));
            forward(r);
            error += 1.0;
            for (const Complex& element : r)
                error -= std::norm(element);
        }
        return error / (12.0 * range.count);
    }

private:
    [[nodiscard]] Complex correlation(int subcarriers) const {
        const Complex correlation = correlations_[static_cast<std::size_t>(std::abs(subcarriers))];
        return subcarriers < 0 ? std::conj(correlation) : correlation;
    }

    /// By Cholesky, in the lower triangle.
    void factorise() {
        const std::size_t n = places_.size();
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k <= i; ++k) {
                Complex sum = factor_[i * n + k];
                for (std::size_t j = 0; j < k; ++j)
                    sum -= factor_[i * n + j] * std::conj(factor_[k * n + j]);
                factor_[i * n + k] =
                    i == k ? Complex(std::sqrt(sum.real())) : sum / factor_[k * n + k].real();
            }
        }
    }

    void forward(std::vector<Complex>& x) const {
        const std::size_t n = places_.size();
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t k = 0; k < i; ++k)
                x[i] -= factor_[i * n + k] * x[k];
            x[i] /= factor_[i * n + i].real();
        }
    }

    EstimatorConfig config_;
    std::vector<Complex> correlations_;  ///< at distances of 0, 1, 2 ... subcarriers
    std::vector<int> places_;
    std::vector<int> mine_;
    std::vector<Complex> factor_;
};

/// Least squares at an antenna in DM-RS `first` to `first + count - 1`, despread in time for the layer, in
/// the first range.
inline std::vector<Complex> least_squares(const EstimatorConfig& config, const Slot& slot,
                                          std::size_t antenna, std::size_t layer, std::size_t first,
                                          std::size_t count) {
    const phy::DmrsConfig& dmrs = config.allocation.dmrs;
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    const phy::ResourceBlocks range = config.allocation.resource_blocks.front();
    const phy::DmrsPort port = phy::dmrs_port(dmrs.type, dmrs.ports[layer]);
    const int each = phy::pilots_per_resource_block(dmrs.type);
    const double amplitude = static_cast<double>(phy::dmrs_amplitude(dmrs));
    const std::size_t of_symbol = slot.pilots.size() / dmrs.symbols.size();
    std::vector<Complex> result;
    for (int i = 0; i < range.count * each; ++i) {
        const auto k = static_cast<std::size_t>(12 * (range.first + i / each) +
                                                phy::pilot_subcarrier(dmrs.type, port.cdm_group, i % each));
        Complex sum;
        for (std::size_t s = first; s < first + count; ++s) {
            const Complex received(
                slot.grid[(antenna * 14 + static_cast<std::size_t>(dmrs.symbols[s])) * subcarriers + k]);
            const Complex pilot(slot.pilots[s * of_symbol + static_cast<std::size_t>(i)]);
            const int code = port.in_time[s % static_cast<std::size_t>(dmrs.length)];
            sum += static_cast<double>(code) * received / pilot / amplitude;
        }
        result.push_back(sum / static_cast<double>(count));
    }
    return result;
}

}  // namespace phy_test
