#include "estimator/profile_loss.hpp"

#include <cmath>
#include <complex>
#include <utility>

#include "common/random.hpp"
#include "link_sim/statistics.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/dmrs/grid_mapper.hpp"
#include "phy/mapper/mapper.hpp"
#include "receiver/chain_reference.hpp"
#include "transmission/transmitter.hpp"

namespace phy_test {
namespace {

using phy::cf32;
using Complex = std::complex<double>;

/// Sequences of a case's seed.
enum Sequence : std::uint64_t { of_bits, of_channel, of_noise };

phy::Host one_thread() {
    return phy::Host({.threads = 1});
}

phy::apps::Channel::Config channel_config(const ProfileCase& drawn) {
    return {.model = drawn.channel,
            .antennas = drawn.antennas,
            .layers = drawn.allocation.layers(),
            .subcarriers = drawn.allocation.subcarriers(),
            .subcarrier_spacing = profile_spacing};
}

/// As phy::Receiver makes it, but for one estimate a slot, as the references have.
phy::ChannelEstimatorConfig estimator_config(const ProfileCase& drawn) {
    phy::ChannelEstimatorConfig config;
    config.allocation = drawn.allocation;
    config.antennas = drawn.antennas;
    config.subcarrier_spacing = profile_spacing;
    config.time = phy::TimeInterpolation::average;
    return config;
}

/// One that is neither lost nor without errors.
phy::Modulation modulation_for(double snr_db) {
    if (snr_db < 5.0) return phy::Modulation::qpsk;
    if (snr_db < 15.0) return phy::Modulation::qam16;
    if (snr_db < 25.0) return phy::Modulation::qam64;
    if (snr_db < 35.0) return phy::Modulation::qam256;
    return phy::Modulation::qam1024;
}

double decibels_of_amplitude(double ratio) {
    return 20.0 * std::log10(ratio);
}

}  // namespace

double ProfileLoss::evm_over_genie_db() const {
    return decibels_of_amplitude(phy.evm / genie.evm);
}

double ProfileLoss::evm_over_flat_db() const {
    return decibels_of_amplitude(phy.evm / flat.evm);
}

EqualizedSymbols equalized_by_reference(const phy::SlotAllocation& allocation, int antennas,
                                        const TapWiener::Estimate& estimate, double noise_variance,
                                        std::span<const cf32> grid) {
    const auto layers = static_cast<std::size_t>(allocation.layers());
    const auto subcarriers = static_cast<std::size_t>(allocation.subcarriers());
    const double noise = noise_variance + static_cast<double>(layers) * estimate.error;
    std::vector<Complex> received(static_cast<std::size_t>(antennas));
    EqualizedSymbols equalized;
    for (const ElementPlace& place : data_places(allocation)) {
        for (std::size_t a = 0; a < received.size(); ++a)
            received[a] = Complex(
                grid[(a * 14 + static_cast<std::size_t>(place.symbol)) * subcarriers + place.subcarrier]);
        const std::size_t of_element = received.size() * layers;
        const EqualizedElement element =
            mmse(std::span(estimate.channel).subspan(place.subcarrier * of_element, of_element), received,
                 layers, noise);
        for (std::size_t layer = 0; layer < layers; ++layer) {
            equalized.symbols.emplace_back(element.symbols[layer]);
            equalized.noise.push_back(static_cast<float>(element.noise[layer]));
        }
    }
    return equalized;
}

struct ProfileTrial::Slot {
    double noise_variance = 0.0;
    phy::Modulation modulation = phy::Modulation::qpsk;
    std::vector<std::uint8_t> bits = {};
    std::vector<cf32> symbols = {};
    std::vector<cf32> grid = {};  ///< received
};

ProfileTrial::ProfileTrial(const ProfileCase& drawn)
    : drawn_(drawn),
      channel_(channel_config(drawn)),
      coefficients_(channel_.size()),
      pilots_(phy::dmrs_pilot_count(drawn.allocation)),
      genie_(drawn.allocation, drawn.antennas, profile_spacing, taps_of(drawn.channel)),
      flat_(drawn.allocation, drawn.antennas, profile_spacing,
            flat_profile(-0.5 * profile_prefix, 0.5 * profile_prefix,
                         drawn.allocation.subcarriers() * profile_spacing)),
      estimate_(one_thread(), estimator_config(drawn)),
      equalize_(one_thread(),
                {.allocation = drawn.allocation, .antennas = drawn.antennas, .time_weights = {}}) {
    channel_.draw({drawn.seed, of_channel}, coefficients_);
    phy::dmrs_pilots(drawn.allocation, static_cast<int>(drawn.seed % 20), pilots_);
}

ProfileLoss ProfileTrial::run(double snr_db) {
    const Slot slot = send(snr_db);
    return {receive(slot), receive_with(genie_, slot), receive_with(flat_, slot)};
}

ProfileTrial::Slot ProfileTrial::send(double snr_db) const {
    const phy::GridMapper to_grid(drawn_.allocation);
    Slot slot = {.noise_variance = drawn_.allocation.layers() * std::pow(10.0, -snr_db / 10.0),
                 .modulation = modulation_for(snr_db)};
    slot.symbols.resize(to_grid.symbols_per_slot());
    slot.bits.resize(slot.symbols.size() * bits_per_symbol(slot.modulation));
    phy::apps::draw_bits({drawn_.seed, of_bits}, slot.bits);
    phy::Mapper(one_thread(), {.modulation = slot.modulation})(slot.bits, std::span(slot.symbols));
    std::vector<cf32> sent(to_grid.grid_size());
    to_grid(slot.symbols, pilots_, sent);
    slot.grid.resize(channel_.received_size());
    channel_.pass(sent, coefficients_, slot.noise_variance, {drawn_.seed, of_noise}, slot.grid);
    return slot;
}

ReceptionQuality ProfileTrial::receive(const Slot& slot) {
    std::vector<float> channel(estimate_.channel_size());
    phy::SlotEstimate found;
    estimate_(slot.grid, pilots_, channel, std::span(&found, 1));
    EqualizedSymbols received;
    received.symbols.resize(slot.symbols.size());
    received.noise.resize(slot.symbols.size());
    equalize_(slot.grid, channel, std::span(&found, 1), received.symbols, received.noise);

    const auto subcarriers = static_cast<std::size_t>(drawn_.allocation.subcarriers());
    const Complex phase(found.phase[static_cast<std::size_t>(drawn_.allocation.dmrs.symbols.front())]);
    double error = 0.0;
    double power = 0.0;
    for (std::size_t row = 0; row < channel.size(); row += 2 * subcarriers) {
        for (std::size_t k = row; k < row + subcarriers; ++k) {
            const Complex h(coefficients_[k], coefficients_[k + subcarriers]);
            error += std::norm(phase * Complex(channel[k], channel[k + subcarriers]) - h);
            power += std::norm(h);
        }
    }
    return quality_of(slot, received, error / power);
}

ReceptionQuality ProfileTrial::receive_with(const TapWiener& filter, const Slot& slot) const {
    const TapWiener::Estimate estimate = filter(slot.grid, pilots_, slot.noise_variance);
    const auto subcarriers = static_cast<std::size_t>(drawn_.allocation.subcarriers());
    const std::size_t rows = coefficients_.size() / (2 * subcarriers);
    double error = 0.0;
    double power = 0.0;
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t k = 0; k < subcarriers; ++k) {
            const std::size_t at = row * 2 * subcarriers + k;
            const Complex h(coefficients_[at], coefficients_[at + subcarriers]);
            error += std::norm(estimate.channel[k * rows + row] - h);
            power += std::norm(h);
        }
    }
    const EqualizedSymbols received =
        equalized_by_reference(drawn_.allocation, drawn_.antennas, estimate, slot.noise_variance, slot.grid);
    return quality_of(slot, received, error / power);
}

ReceptionQuality ProfileTrial::quality_of(const Slot& slot, const EqualizedSymbols& received,
                                          double channel_error) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < slot.symbols.size(); ++i) {
        const double shrink = 1.0 / (1.0 + static_cast<double>(received.noise[i]));
        sum += std::norm(shrink * Complex(received.symbols[i]) - Complex(slot.symbols[i]));
    }
    const auto count = static_cast<double>(slot.symbols.size());
    std::vector<float> llr(slot.bits.size());
    phy::SoftDemapper(one_thread(), {.modulation = slot.modulation})(
        received.symbols, std::span(received.noise), std::span(llr));
    return {.channel_error = channel_error,
            .evm = std::sqrt(sum / count),
            .information = phy::apps::information(std::span(std::as_const(llr)), 1.0F, slot.bits) / count};
}

}  // namespace phy_test
