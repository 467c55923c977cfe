#include "transmission/transmitter.hpp"

namespace phy::apps {

Transmitter::Transmitter(const Host& host, const Config& config)
    : config_(config),
      scramble_(host),
      map_(host, {.modulation = config.modulation}),
      to_grid_(config.allocation),
      scrambled_(bits_per_slot()),
      symbols_(to_grid_.symbols_per_slot()),
      pilots_(to_grid_.pilots_per_slot()),
      grid_(to_grid_.grid_size()) {
    if (!config.allocation.dmrs.transform_precoding) return;
    const int subcarriers = config.allocation.resource_blocks.front().count * subcarriers_per_resource_block;
    precode_.emplace(host, TransformPrecoderConfig{
                               .subcarriers = subcarriers,
                               .direction = TransformPrecoderConfig::Direction::precode,
                           });
    precoded_.resize(symbols_.size());
}

std::size_t Transmitter::bits_per_slot() const {
    return to_grid_.symbols_per_slot() * bits_per_symbol(config_.modulation);
}

void Transmitter::transmit(int slot, std::span<const std::uint8_t> bits) {
    scramble_(config_.scrambling.c_init(), bits, scrambled_);
    map_(scrambled_, symbols_);
    if (precode_) (*precode_)(symbols_, precoded_);
    dmrs_pilots(config_.allocation, slot, pilots_);
    to_grid_(precode_ ? precoded_ : symbols_, pilots_, grid_);
}

void draw_bits(const RandomSequence& random, std::span<std::uint8_t> bits) {
    for (std::size_t i = 0; i < bits.size(); ++i)
        bits[i] = static_cast<std::uint8_t>(random.bits(i / 64) >> (i % 64) & 1U);
}

}  // namespace phy::apps
