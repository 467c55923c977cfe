#include "transmission/transmitter.hpp"

namespace phy::apps {

Transmitter::Transmitter(const Host& host, const Config& config)
    : config_(config),
      scramble_(host),
      map_(host, {.modulation = config.modulation}),
      to_grid_(config.allocation),
      symbols_(ResourceMap(config.allocation).elements() *
               static_cast<std::size_t>(config.allocation.layers())),
      pilots_(to_grid_.pilots_per_slot()),
      grid_(to_grid_.grid_size()) {
    scrambled_.resize(symbols_.size() * bits_per_symbol(config.modulation));
    if (!config.allocation.dmrs.transform_precoding) return;
    const int subcarriers = config.allocation.resource_blocks.front().count * subcarriers_per_resource_block;
    precode_.emplace(host, TransformPrecoderConfig{
                               .subcarriers = subcarriers,
                               .direction = TransformPrecoderConfig::Direction::precode,
                           });
    precoded_.resize(to_grid_.symbols_per_slot());
    samples_ = precoder_input(config.allocation);
    if (config.allocation.ptrs) ptrs_.resize(ptrs_pilot_count(config.allocation));
}

void Transmitter::transmit(int slot, std::span<const std::uint8_t> bits) {
    scramble_(config_.scrambling.c_init(), bits, scrambled_);
    map_(scrambled_, symbols_);
    if (precode_) precode(slot);
    dmrs_pilots(config_.allocation, slot, pilots_);
    to_grid_(precode_ ? precoded_ : symbols_, pilots_, grid_);
}

/// Data and PT-RS are samples of the DFT's input.
void Transmitter::precode(int slot) {
    for (std::size_t i = 0; i < samples_.data.size(); ++i)
        precoded_[samples_.data[i]] = symbols_[i];
    if (!samples_.ptrs.empty()) {
        const float amplitude = ptrs_amplitude(config_.allocation, config_.modulation);
        ptrs_pilots(config_.allocation, slot, ptrs_);
        for (std::size_t i = 0; i < samples_.ptrs.size(); ++i)
            precoded_[samples_.ptrs[i]] = ptrs_[i % ptrs_.size()] * amplitude;
    }
    (*precode_)(precoded_, precoded_);
}

void draw_bits(const RandomSequence& random, std::span<std::uint8_t> bits) {
    for (std::size_t i = 0; i < bits.size(); ++i)
        bits[i] = static_cast<std::uint8_t>(random.bits(i / 64) >> (i % 64) & 1U);
}

}  // namespace phy::apps
