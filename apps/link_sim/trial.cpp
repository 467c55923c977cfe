#include "link_sim/trial.hpp"

#include <cmath>

#include "common/random.hpp"

namespace phy::apps {
namespace {

/// One sequence per point, so that a point does not depend on the other points.
RandomSequence random_of(const LinkConfig& config) {
    const auto micro_db = static_cast<std::uint64_t>(std::llround(config.snr_db * 1e6));
    return {RandomSequence(config.seed, static_cast<std::uint64_t>(config.modulation)).bits(0), micro_db};
}

int slots_per_frame(const LinkConfig& config) {
    return static_cast<int>(config.channel.subcarrier_spacing / 15e3 * 10.0);
}

}  // namespace

Trial::Trial(const LinkConfig& config)
    : config_(config),
      host_({.backend = config.backend}),
      channel_(config.channel),
      transmitter_(host_, config.transmitter()),
      measure_symbols_(host_, {.modulation = config.modulation}),
      bits_(transmitter_.bits_per_slot()),
      coefficients_(channel_.size()),
      received_(channel_.received_size()) {
    for (const Knowledge& known : config.known)
        receivers_.emplace_back(host_, config, known);
    for (const SoftBitChoice& choice : config.soft_bits)
        measure_soft_bits_.emplace_back(host_, SoftBitMeterConfig{.llr = {.scale = choice.scale}});
}

void Trial::run(std::uint64_t slot, std::span<LinkSums> sums) {
    const std::uint64_t seed = random_of(config_).bits(slot);
    draw_bits({seed, 0}, bits_);
    transmitter_.transmit(static_cast<int>(slot % static_cast<std::uint64_t>(slots_per_frame(config_))),
                          bits_);

    channel_.draw({seed, 1}, coefficients_);
    channel_.pass(transmitter_.grid(), coefficients_, config_.noise_variance(), {seed, 2}, received_);
    const ChannelState truth = {coefficients_, channel_.phase(),
                                static_cast<float>(config_.noise_variance())};

    for (std::size_t i = 0; i < receivers_.size(); ++i) {
        receivers_[i].equalise(received_, transmitter_.pilots(), truth);
        measure(receivers_[i], sums.subspan(i * config_.soft_bits.size(), config_.soft_bits.size()));
    }
}

void Trial::measure(Receiver& receiver, std::span<LinkSums> sums) {
    SymbolSums symbols;
    measure_symbols_(receiver.symbols(), transmitter_.symbols(), receiver.symbols().size(),
                     std::span(&symbols, 1));
    for (std::size_t choice = 0; choice < sums.size(); ++choice) {
        const SoftBitView soft_bits = receiver.soft_bits(choice);
        sums[choice] = {symbols, measure_soft_bits_[choice](soft_bits, bits_),
                        information(soft_bits, config_.soft_bits[choice].scale, bits_)};
    }
}

}  // namespace phy::apps
