#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "estimator/dense_wiener.hpp"
#include "estimator/estimator_cases.hpp"
#include "support/fewer_cases.hpp"

/// Channels of a few paths anywhere inside half a cyclic prefix, beside a filter that knows the paths and one
/// with a flat profile over the prefix.
namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)

constexpr double prefix = 144.0 / 2048.0 / 30e3;

struct Sparse {
    std::vector<Path> paths;
    Slot slot;
};

/// Paths of 0 to -20 dB within half a prefix, which begins up to a quarter before or after the timing.
std::vector<Path> draw_paths(std::mt19937_64& random) {
    std::uniform_real_distribution<double> part(0.0, 1.0);
    const int count = 2 + static_cast<int>(5.0 * part(random));
    const double middle = 0.5 * prefix * (part(random) - 0.5);
    std::vector<Path> paths;
    double sum = 0.0;
    for (int i = 0; i < count; ++i) {
        paths.push_back({middle + 0.5 * prefix * (part(random) - 0.5), std::pow(10.0, -2.0 * part(random))});
        sum += paths.back().power;
    }
    for (Path& path : paths)
        path.power /= sum;
    return paths;
}

Slot make_sparse_slot(const EstimatorConfig& config, const std::vector<Path>& paths, double noise,
                      std::mt19937_64& random) {
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    const auto antennas = static_cast<std::size_t>(config.antennas);
    const auto layers = config.allocation.dmrs.ports.size();
    Slot slot;
    slot.grid.resize(antennas * 14 * subcarriers);
    for (phy::cf32& element : slot.grid)
        element = phy::cf32(gaussian(random, noise));
    slot.pilots.resize(phy::dmrs_pilot_count(config.allocation));
    phy::dmrs_pilots(config.allocation, 3, slot.pilots);
    for (std::size_t row = 0; row < antennas * layers; ++row) {
        std::vector<Complex> channel(subcarriers);
        for (const Path& path : paths) {
            const Complex gain = gaussian(random, path.power);
            for (std::size_t k = 0; k < subcarriers; ++k)
                channel[k] += gain * std::polar(1.0, -2.0 * std::numbers::pi * path.delay *
                                                         config.subcarrier_spacing * static_cast<double>(k));
        }
        slot.channel.insert(slot.channel.end(), channel.begin(), channel.end());
    }
    for (std::size_t symbol = 0; symbol < config.allocation.dmrs.symbols.size(); ++symbol)
        add_pilots(config, {}, symbol, slot);
    return slot;
}

/// (antennas x layers, subcarriers of the allocation).
using Channel = std::vector<std::vector<Complex>>;

/// Solves a x = b for a Hermitian positive definite matrix; b has some columns.
void solve(std::vector<Complex>& a, std::vector<Complex>& b, std::size_t n, std::size_t columns) {
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t row = 0; row < n; ++row) {
            if (row == i) continue;
            const Complex factor = a[row * n + i] / a[i * n + i];
            for (std::size_t k = i; k < n; ++k)
                a[row * n + k] -= factor * a[i * n + k];
            for (std::size_t k = 0; k < columns; ++k)
                b[row * columns + k] -= factor * b[i * columns + k];
        }
    }
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t k = 0; k < columns; ++k)
            b[i * columns + k] /= a[i * n + i];
}

/// The expected squared error of symbols of unit power that an unbiased MMSE equaliser makes with an
/// estimate.
double squared_evm(const Channel& channel, const Channel& estimate, std::size_t layers, double noise) {
    const std::size_t antennas = channel.size() / layers;
    double sum = 0.0;
    std::size_t count = 0;
    for (std::size_t k = 0; k < channel.front().size(); k += 3) {
        std::vector<Complex> gram(layers * layers);
        std::vector<Complex> weights(layers * antennas);
        for (std::size_t i = 0; i < layers; ++i) {
            gram[i * layers + i] = noise;
            for (std::size_t a = 0; a < antennas; ++a) {
                weights[i * antennas + a] = std::conj(estimate[a * layers + i][k]);
                for (std::size_t j = 0; j < layers; ++j)
                    gram[i * layers + j] +=
                        std::conj(estimate[a * layers + i][k]) * estimate[a * layers + j][k];
            }
        }
        solve(gram, weights, layers, antennas);
        for (std::size_t i = 0; i < layers; ++i, ++count) {
            Complex gain;
            for (std::size_t a = 0; a < antennas; ++a)
                gain += weights[i * antennas + a] * estimate[a * layers + i][k];
            for (std::size_t j = 0; j < layers; ++j) {
                Complex through = j == i ? -gain : Complex();
                for (std::size_t a = 0; a < antennas; ++a)
                    through += weights[i * antennas + a] * channel[a * layers + j][k];
                sum += std::norm(through / gain);
            }
            for (std::size_t a = 0; a < antennas; ++a)
                sum += noise * std::norm(weights[i * antennas + a] / gain);
        }
    }
    return sum / static_cast<double>(count);
}

Channel true_channel(const EstimatorConfig& config, const Slot& slot) {
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    const phy::ResourceBlocks range = config.allocation.resource_blocks.front();
    Channel channel;
    for (std::size_t row = 0; row < slot.channel.size() / subcarriers; ++row) {
        const auto first =
            slot.channel.begin() + static_cast<std::ptrdiff_t>(row * subcarriers) + 12 * range.first;
        channel.emplace_back(first, first + 12 * range.count);
    }
    return channel;
}

Channel estimated_channel(const EstimatorConfig& config, phy::ChannelEstimator& estimator, const Slot& slot) {
    const Estimated estimated = estimate(estimator, slot);
    const phy::ResourceBlocks range = config.allocation.resource_blocks.front();
    const std::size_t layers = config.allocation.dmrs.ports.size();
    Channel channel;
    for (std::size_t row = 0; row < static_cast<std::size_t>(config.antennas) * layers; ++row) {
        channel.emplace_back();
        for (int k = 12 * range.first; k < 12 * (range.first + range.count); ++k)
            channel.back().push_back(estimate_at(config, weights_of(estimator), estimated, 2, row / layers,
                                                 row % layers, static_cast<std::size_t>(k)));
    }
    return channel;
}

std::vector<DenseWiener> dense_filters(const EstimatorConfig& config, const std::vector<Path>& paths,
                                       double noise) {
    const phy::DmrsConfig& dmrs = config.allocation.dmrs;
    const double amplitude = static_cast<double>(phy::dmrs_amplitude(dmrs));
    const double of_pilot = noise / (amplitude * amplitude) / static_cast<double>(dmrs.symbols.size());
    std::vector<DenseWiener> filters;
    for (std::size_t layer = 0; layer < dmrs.ports.size(); ++layer)
        filters.emplace_back(config, layer, path_correlations(config, paths), of_pilot);
    return filters;
}

Channel dense_channel(const EstimatorConfig& config, const std::vector<DenseWiener>& filters,
                      const Slot& slot) {
    const std::size_t layers = filters.size();
    Channel channel;
    for (std::size_t row = 0; row < static_cast<std::size_t>(config.antennas) * layers; ++row)
        channel.push_back(filters[row % layers].estimate(least_squares(
            config, slot, row / layers, row % layers, 0, config.allocation.dmrs.symbols.size())));
    return channel;
}

std::vector<Path> flat_profile() {
    constexpr int count = 200;
    std::vector<Path> paths;
    for (int i = 0; i < count; ++i)
        paths.push_back({prefix * ((i + 0.5) / count - 0.5), 1.0 / count});
    return paths;
}

/// Losses of EVM in dB against the filter that knows the paths, one per draw, lowest first.
struct Losses {
    std::vector<double> estimator;
    std::vector<double> flat;
    double worst_against_flat = -100.0;
};

Losses measure_losses(EstimatorConfig config, double snr_db, int draws, std::mt19937_64& random) {
    config.time = phy::TimeInterpolation::average;
    const double noise = std::pow(10.0, -0.1 * snr_db);
    const std::size_t layers = config.allocation.dmrs.ports.size();
    phy::ChannelEstimator estimator = make_estimator(config);
    const std::vector<DenseWiener> flat = dense_filters(config, flat_profile(), noise);
    Losses losses;
    for (int i = 0; i < draws; ++i) {
        const std::vector<Path> paths = draw_paths(random);
        const Slot slot = make_sparse_slot(config, paths, noise, random);
        const Channel channel = true_channel(config, slot);
        const auto evm_of = [&](const Channel& estimate) {
            return decibels(squared_evm(channel, estimate, layers, noise));
        };
        const double known = evm_of(dense_channel(config, dense_filters(config, paths, noise), slot));
        losses.estimator.push_back(evm_of(estimated_channel(config, estimator, slot)) - known);
        losses.flat.push_back(evm_of(dense_channel(config, flat, slot)) - known);
        losses.worst_against_flat =
            std::max(losses.worst_against_flat, losses.estimator.back() - losses.flat.back());
    }
    std::ranges::sort(losses.estimator);
    std::ranges::sort(losses.flat);
    return losses;
}

double median(const std::vector<double>& sorted) {
    return sorted[sorted.size() / 2];
}

class AnyChannelTest : public testing::Test {
protected:
    AnyChannelTest() : seed_(std::random_device()()), random_(seed_), trace_(__FILE__, __LINE__, text()) {}

    std::mt19937_64& random() { return random_; }

private:
    [[nodiscard]] std::string text() const { return "seed " + std::to_string(seed_); }

    unsigned seed_;
    std::mt19937_64 random_;
    testing::ScopedTrace trace_;
};

struct Layers {
    std::vector<int> ports;
    int antennas;
};

TEST_F(AnyChannelTest, LosesLittleAgainstAFilterThatKnowsThePaths) {
    for (const Layers& one : {Layers{{0}, 2}, Layers{{0, 1}, 4}, Layers{{0, 1, 2, 3}, 8}}) {
        for (const int snr : {20, 30, 40}) {
            const Losses losses =
                measure_losses(estimator_config(24, one.antennas, one.ports), snr, fewer_times(8), random());
            SCOPED_TRACE(std::to_string(one.ports.size()) + " layers, " + std::to_string(snr) + " dB");
            EXPECT_LT(median(losses.estimator), 0.6);
            EXPECT_LT(losses.estimator.back(), 1.2);
            // A path at the edge of the flat profile suits that; 95 % of channels lose less than 0.05 dB.
            EXPECT_LT(losses.worst_against_flat, 0.7);
        }
    }
}

/// Every type and length of DM-RS: what leaked from port to port would cost more than all else.
TEST_F(AnyChannelTest, HoldsForAllPorts) {
    const std::vector<std::vector<int>> ports_of[2] = {{{1}, {0, 1}, {2, 0, 1}, {3, 1, 0, 2}},
                                                       {{3}, {4, 5}, {0, 1, 2}, {5, 1, 0, 3}}};
    for (const int type : {1, 2}) {
        for (const int length : {1, 2}) {
            for (const std::vector<int>& ports : ports_of[type - 1]) {
                const Losses losses =
                    measure_losses(estimator_config(14, 4, ports, type, length), 25.0, 3, random());
                EXPECT_LT(losses.estimator.back(), 1.0) << "type " << type << ", length " << length << ", "
                                                        << ports.size() << " ports, first " << ports[0];
            }
        }
    }
}

TEST_F(AnyChannelTest, HasNoFloor) {
    const Losses losses = measure_losses(estimator_config(26, 2, {0, 1}), 45.0, fewer_times(6), random());
    EXPECT_LT(losses.estimator.back(), 1.2);
}

/// Few pilots show little of a profile, so the flat one is the limit.
TEST_F(AnyChannelTest, IsAboutTheFlatProfileInFewResourceBlocks) {
    for (const int blocks : {1, 2, 4, 6, 12}) {
        for (const int snr : {10, 25}) {
            const Losses losses =
                measure_losses(estimator_config(blocks, 2, {0}), snr, fewer_times(30), random());
            EXPECT_LT(median(losses.estimator), median(losses.flat) + (blocks == 1 ? 0.7 : 0.25))
                << blocks << " blocks, " << snr << " dB";
        }
    }
}

}  // namespace
