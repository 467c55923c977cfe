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
      air_(host_, config),
      transmitter_(host_, config.transmitter()),
      measure_symbols_(host_, {.modulation = config.modulation}),
      bits_(transmitter_.bits_per_slot()) {
    for (const EqualizerChoice& choice : config.equalizers)
        receivers_.emplace_back(host_, config, choice);
    for (const SoftBitChoice& choice : config.soft_bits)
        measure_soft_bits_.emplace_back(host_, SoftBitMeterConfig{.llr = {.scale = choice.scale}});
    if (!config.coding) return;
    const TransportBlockConfig block = config.transport_block();
    blocks_.emplace(host_, block);
    for (const SoftBitChoice& choice : config.soft_bits)
        measure_blocks_.emplace_back(host_, TransportDecoderConfig{.block = block,
                                                                   .format = choice.format,
                                                                   .scale = choice.scale,
                                                                   .iterations = config.coding->iterations});
}

void Trial::draw(const RandomSequence& random) {
    if (blocks_)
        blocks_->draw(random, bits_);
    else
        draw_bits(random, bits_);
}

void Trial::run(std::uint64_t slot, std::span<LinkSums> sums) {
    const std::uint64_t seed = random_of(config_).bits(slot);
    draw({seed, 0});
    const auto of_frame = static_cast<std::uint64_t>(slots_per_frame(config_));
    const auto number = static_cast<int>(slot % of_frame);
    transmitter_.transmit(number, bits_);
    air_.pass(transmitter_.grid(), number, seed);
    for (std::size_t i = 0; i < receivers_.size(); ++i) {
        receivers_[i].equalise(air_.grid(), transmitter_.pilots(), air_.truth());
        measure(receivers_[i], sums.subspan(i * config_.soft_bits.size(), config_.soft_bits.size()));
    }
}

void Trial::measure(Receiver& receiver, std::span<LinkSums> sums) {
    SymbolSums symbols;
    measure_symbols_(receiver.symbols(), transmitter_.symbols(), receiver.symbols().size(),
                     std::span(&symbols, 1));
    for (std::size_t choice = 0; choice < sums.size(); ++choice) {
        const SoftBitView soft_bits = receiver.soft_bits(choice);
        const SoftBitSums measured = measure_soft_bits_[choice](soft_bits, bits_);
        sums[choice] = {symbols, measured, information(soft_bits, config_.soft_bits[choice].scale, bits_),
                        bit_error_sums(measured.bit_errors, measured.compared)};
        if (!blocks_) continue;
        sums[choice].blocks =
            measure_blocks_[choice](soft_bits, blocks_->payload(), receiver.choice().iterations,
                                    [&](auto priors) { return receiver.soft_bits(choice, priors); });
    }
}

}  // namespace phy::apps
