#include "link_sim/link.hpp"

#include <cmath>

namespace phy::apps {
namespace {

/// The identity that scrambles the codeword.
constexpr ScramblingIdentity identity = {.rnti = 17921, .id = 1};

EqualizerConfig equalizer_config(const LinkConfig& config, std::span<const float> time_weights) {
    return {.allocation = config.allocation,
            .antennas = config.channel.antennas,
            .method = config.equalization,
            .time_weights = {time_weights.begin(), time_weights.end()}};
}

ChannelEstimatorConfig estimator_config(const LinkConfig& config, bool knows_noise) {
    ChannelEstimatorConfig estimator;
    estimator.allocation = config.allocation;
    estimator.antennas = config.channel.antennas;
    estimator.subcarrier_spacing = config.channel.subcarrier_spacing;
    if (config.delay_spread) estimator.delay_spread = static_cast<float>(*config.delay_spread);
    if (knows_noise) estimator.noise_variance = static_cast<float>(config.noise_variance());
    return estimator;
}

}  // namespace

std::string_view to_string(const Knowledge& known) {
    if (known.channel) return known.noise ? "channel,noise" : "channel";
    return known.noise ? "noise" : "none";
}

std::string_view to_string(Equalization equalization) {
    return equalization == Equalization::mmse ? "mmse" : "zero-forcing";
}

double LinkConfig::noise_variance() const {
    return allocation.layers() * std::pow(10.0, -snr_db / 10.0);
}

Transmitter::Config LinkConfig::transmitter() const {
    return {.allocation = allocation, .modulation = modulation, .scrambling = identity};
}

Receiver::Receiver(const Host& host, const LinkConfig& config, const Knowledge& known)
    : known_(known), choices_(config.soft_bits) {
    if (!known.channel || !known.noise) {
        estimate_.emplace(host, estimator_config(config, known.noise));
        channel_.resize(estimate_->channel_size());
    }
    equalize_.emplace(
        host, equalizer_config(config, known.channel ? std::span<const float>() : estimate_->time_weights()));
    for (const SoftBitChoice& choice : choices_) {
        demap_.emplace_back(host, DemapperConfig{.modulation = config.modulation,
                                                 .llr = {.method = choice.method, .scale = choice.scale}});
    }
    symbols_.resize(equalize_->symbols_per_slot());
    noise_variance_.resize(symbols_.size());
    soft_bits_per_slot_ = symbols_.size() * bits_per_symbol(config.modulation);
    soft_bits_.resize(soft_bits_per_slot_ * sizeof(float));
    signs_.resize((soft_bits_per_slot_ + 31) / 32);
    gold_sequence(host, identity.c_init(), 0, signs_);
}

void Receiver::equalise(std::span<const cf32> grid, std::span<const cf32> pilots, const ChannelState& truth) {
    SlotEstimate slot;
    std::span<const float> channel = channel_;
    if (estimate_) (*estimate_)(grid, pilots, channel_, std::span(&slot, 1));
    if (known_.channel) {
        channel = truth.coefficients;
        slot.phase = truth.phase;
        slot.channel_error = 0.0F;
    }
    if (known_.noise) slot.noise_variance = truth.noise_variance;
    (*equalize_)(grid, channel, std::span(&slot, 1), symbols_, noise_variance_);
}

SoftBitView Receiver::soft_bits(std::size_t choice) {
    const SoftBitFormat format = choices_[choice].format;
    const SoftBitSpan llr(format, std::span(soft_bits_).first(soft_bits_per_slot_ * size_of(format)));
    demap_[choice](symbols_, noise_variance_, llr, 0, nullptr, signs_);
    return llr;
}

}  // namespace phy::apps
