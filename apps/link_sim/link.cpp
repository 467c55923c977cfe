#include "link_sim/link.hpp"

#include <cmath>

namespace phy::apps {
namespace {

/// The identity that scrambles the codeword.
constexpr ScramblingIdentity identity = {.rnti = 17921, .id = 1};

EqualizerConfig equalizer_config(const LinkConfig& config, std::span<const float> time_weights, int time_sets,
                                 bool pairs) {
    return {.allocation = config.allocation,
            .antennas = config.channel.antennas,
            .method = config.equalization,
            .time_weights = {time_weights.begin(), time_weights.end()},
            .time_sets = time_sets,
            .pairs = pairs};
}

/// Those of a channel that is known at each symbol; none if it is constant.
std::vector<float> known_weights(const LinkConfig& config) {
    constexpr auto size = static_cast<std::size_t>(symbols_per_slot);
    if (config.channel.doppler == 0.0) return {};
    std::vector<float> weights(size * size);
    for (std::size_t l = 0; l < size; ++l)
        weights[l * size + l] = 1.0F;
    return weights;
}

ChannelEstimatorConfig estimator_config(const LinkConfig& config, const EqualizerChoice& choice) {
    ChannelEstimatorConfig estimator;
    estimator.allocation = config.allocation;
    estimator.antennas = config.channel.antennas;
    estimator.subcarrier_spacing = config.channel.subcarrier_spacing;
    if (config.delay_spread) estimator.delay_spread = static_cast<float>(*config.delay_spread);
    estimator.time = choice.time;
    if (choice.known.noise) estimator.noise_variance = static_cast<float>(config.disturbance());
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

double LinkConfig::disturbance() const {
    const double interference =
        interference_db ? allocation.layers() * std::pow(10.0, *interference_db / 10.0) : 0.0;
    double gain = antenna_gains_db.empty() ? 1.0 : 0.0;
    for (const double gain_db : antenna_gains_db)
        gain += std::pow(10.0, gain_db / 10.0) / static_cast<double>(antenna_gains_db.size());
    return gain * (noise_variance() + interference);
}

Transmitter::Config LinkConfig::transmitter() const {
    return {.allocation = allocation, .modulation = modulation, .scrambling = identity};
}

TransportBlockConfig LinkConfig::transport_block() const {
    return transport_block_of(allocation, modulation, coding.value());
}

Receiver::Receiver(const Host& host, const LinkConfig& config, const EqualizerChoice& choice)
    : choice_(choice), choices_(config.soft_bits) {
    const Knowledge& known = choice.known;
    if (!known.channel || !known.noise) {
        estimate_.emplace(host, estimator_config(config, choice));
        channel_.resize(estimate_->channel_size());
    }
    EqualizerConfig equalizer =
        known.channel ? equalizer_config(config, known_weights(config), 1, choice.joint_detection)
                      : equalizer_config(config, estimate_->time_weights(), estimate_->time_sets(),
                                         choice.joint_detection);
    equalize_.emplace(host, equalizer);
    if (choice.phase_tracking) track_.emplace(host, PhaseTrackerConfig{config.allocation, config.modulation});
    if (const auto of_ptrs = choice.phase_tracking && config.allocation.ptrs
                                 ? ptrs_allocation(config.allocation)
                                 : std::nullopt) {
        equalizer.allocation = *of_ptrs;
        equalizer.pairs = false;
        equalize_ptrs_.emplace(host, equalizer);
        ptrs_.resize(equalize_ptrs_->symbols_per_slot());
        ptrs_noise_variance_.resize(ptrs_.size());
    }
    for (const SoftBitChoice& soft_bits : choices_) {
        const LlrConfig llr = {.method = soft_bits.method, .scale = soft_bits.scale};
        if (choice.joint_detection) {
            detect_.emplace_back(host, JointDetectorConfig{.modulation = config.modulation, .llr = llr});
        } else {
            demap_.emplace_back(host, DemapperConfig{.modulation = config.modulation, .llr = llr});
        }
    }
    if (choice.joint_detection) pairs_.resize(equalize_->elements_per_slot());
    if (choice.interference_rejection)
        covariance_.resize(static_cast<std::size_t>(
            config.channel.antennas * config.channel.antennas *
            subbands(config.channel.antennas, config.allocation.carrier_resource_blocks)));
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
    std::span<const cf32> covariance = covariance_;
    if (estimate_) {
        const bool measures = !choice_.known.noise;
        (*estimate_)(grid, pilots, channel_, std::span(&slot, 1),
                     measures ? std::span(covariance_) : std::span<cf32>());
    }
    if (choice_.known.channel) {
        channel = truth.coefficients;
        slot.phase = truth.phase;
        slot.channel_error = 0.0F;
        slot.time_set = 0;
    }
    if (choice_.known.noise) {
        slot.noise_variance = truth.noise_variance;
        if (choice_.interference_rejection) covariance = truth.covariance;
    }
    (*equalize_)(grid, channel, std::span(&slot, 1), symbols_, noise_variance_, covariance, pairs_);
    if (!track_) return;
    PtrsSymbols ptrs;
    if (equalize_ptrs_) {
        (*equalize_ptrs_)(grid, channel, std::span(&slot, 1), ptrs_, ptrs_noise_variance_, covariance);
        ptrs = {ptrs_, ptrs_noise_variance_, pilots};
    }
    (*track_)(symbols_, noise_variance_, std::span(&slot, 1), pairs_, ptrs);
    track_->raise_noise(std::span(&slot, 1), noise_variance_, pairs_);
}

SoftBitView Receiver::soft_bits(std::size_t choice, std::span<const std::int8_t> priors) {
    const SoftBitFormat format = choices_[choice].format;
    const SoftBitSpan llr(format, std::span(soft_bits_).first(soft_bits_per_slot_ * size_of(format)));
    if (choice_.joint_detection) {
        detect_[choice](pairs_, llr, signs_, priors);
    } else {
        demap_[choice](symbols_, noise_variance_, llr, 0, nullptr, signs_);
    }
    return llr;
}

}  // namespace phy::apps
