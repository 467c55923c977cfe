#include "link_sim/air.hpp"

#include <algorithm>
#include <cmath>
#include <complex>

namespace phy::apps {
namespace {

/// The identities of the other cell.
constexpr ScramblingIdentity other_identity = {.rnti = 4711, .id = 2};
constexpr std::uint32_t other_dmrs_identity = 501;

Transmitter::Config other_cell(const LinkConfig& config) {
    SlotAllocation allocation = config.allocation;
    allocation.dmrs.ports = {0};
    allocation.dmrs.scrambling_id = other_dmrs_identity;
    return {.allocation = allocation, .modulation = Modulation::qpsk, .scrambling = other_identity};
}

Channel::Config channel_to_other_cell(const LinkConfig& config) {
    Channel::Config channel = config.channel;
    channel.layers = 1;
    channel.timing_offset = 0.0;
    channel.frequency_offset = 0.0;
    return channel;
}

/// A decibel of power as a factor of amplitudes.
double amplitude(double decibel) {
    return std::pow(10.0, decibel / 20.0);
}

}  // namespace

Air::Air(const Host& host, const LinkConfig& config)
    : noise_variance_(config.noise_variance()),
      channel_(config.channel),
      antennas_(static_cast<std::size_t>(config.channel.antennas)),
      coefficients_(channel_.size()),
      grid_(channel_.received_size()),
      covariance_(antennas_ * antennas_ *
                  static_cast<std::size_t>(
                      subbands(config.channel.antennas, config.allocation.carrier_resource_blocks))) {
    for (const double gain_db : config.antenna_gains_db)
        gains_.push_back(amplitude(gain_db));
    if (config.phase_noise)
        oscillator_.emplace(host, config.allocation, config.channel.subcarrier_spacing,
                            config.channel.antennas, *config.phase_noise);
    if (!config.interference_db) return;
    interference_ = config.allocation.layers() * std::pow(amplitude(*config.interference_db), 2.0);
    interferer_.emplace(Interferer{Channel(channel_to_other_cell(config)),
                                   Transmitter(host, other_cell(config)),
                                   {},
                                   {},
                                   std::vector<cf32>(grid_.size())});
    interferer_->bits.resize(interferer_->transmitter.bits_per_slot());
    interferer_->coefficients.resize(interferer_->channel.size());
}

void Air::pass(std::span<const cf32> sent, int slot, std::uint64_t seed) {
    channel_.draw({seed, 1}, coefficients_);
    channel_.pass(sent, coefficients_, noise_variance_, {seed, 2}, grid_);
    for (std::size_t i = 0; i < covariance_.size(); ++i)
        covariance_[i] = is_diagonal(i) ? cf32(static_cast<float>(noise_variance_)) : cf32();
    if (interferer_) add_interferer(slot, seed);
    if (!gains_.empty()) scale();
    if (oscillator_) oscillator_->pass(grid_, {seed, 6});
}

/// The covariance is the mean over the subcarriers of a subband and time.
void Air::add_interferer(int slot, std::uint64_t seed) {
    Interferer& other = *interferer_;
    draw_bits({seed, 3}, other.bits);
    other.transmitter.transmit(slot, other.bits);
    other.channel.draw({seed, 4}, other.coefficients);
    other.channel.pass(other.transmitter.grid(), other.coefficients, 0.0, {seed, 5}, other.grid);
    const auto factor = static_cast<float>(std::sqrt(interference_));
    for (std::size_t i = 0; i < grid_.size(); ++i)
        grid_[i] += factor * other.grid[i];
    const auto moments = static_cast<std::size_t>(other.channel.moments());
    const std::size_t subcarriers = other.coefficients.size() / moments / antennas_ / 2;
    const auto at = [&](std::size_t moment, std::size_t antenna, std::size_t k) {
        const float* const re = other.coefficients.data() + (moment * antennas_ + antenna) * 2 * subcarriers;
        return std::complex<double>(re[k], re[subcarriers + k]);
    };
    for (std::size_t i = 0; i < covariance_.size(); ++i) {
        const std::size_t a = i / antennas_ % antennas_;
        const std::size_t b = i % antennas_;
        const auto [first, end] = subcarriers_of(i);
        std::complex<double> sum = 0.0;
        for (std::size_t moment = 0; moment < moments; ++moment)
            for (std::size_t k = first; k < end; ++k)
                sum += at(moment, a, k) * std::conj(at(moment, b, k));
        covariance_[i] += cf32(interference_ / static_cast<double>(moments * (end - first)) * sum);
    }
}

void Air::scale() {
    for (std::size_t i = 0; i < grid_.size(); ++i)
        grid_[i] *= static_cast<float>(gains_[i / (grid_.size() / antennas_)]);
    const std::size_t rows = static_cast<std::size_t>(channel_.moments()) * antennas_;
    for (std::size_t i = 0; i < coefficients_.size(); ++i)
        coefficients_[i] *= static_cast<float>(gains_[i / (coefficients_.size() / rows) % antennas_]);
    for (std::size_t i = 0; i < covariance_.size(); ++i)
        covariance_[i] *= static_cast<float>(gains_[i / antennas_ % antennas_] * gains_[i % antennas_]);
}

std::pair<std::size_t, std::size_t> Air::subcarriers_of(std::size_t i) const {
    const std::size_t all = grid_.size() / (antennas_ * symbols_per_slot);
    const auto of_subband = static_cast<std::size_t>(subband_blocks(static_cast<int>(antennas_))) *
                            subcarriers_per_resource_block;
    const std::size_t first = i / (antennas_ * antennas_) * of_subband;
    return {first, std::min(first + of_subband, all)};
}

bool Air::is_diagonal(std::size_t i) const {
    return i / antennas_ % antennas_ == i % antennas_;
}

ChannelState Air::truth() const {
    float sum = 0.0F;
    float count = 0.0F;
    for (std::size_t i = 0; i < covariance_.size(); ++i) {
        if (!is_diagonal(i)) continue;
        const auto [first, end] = subcarriers_of(i);
        sum += static_cast<float>(end - first) * covariance_[i].real();
        count += static_cast<float>(end - first);
    }
    return {.coefficients = coefficients_,
            .phase = channel_.phase(),
            .noise_variance = sum / count,
            .covariance = covariance_};
}

}  // namespace phy::apps
