#include "link_sim/link.hpp"

#include <cmath>

namespace phy::apps {

std::string_view to_string(const Knowledge& known) {
    if (known.channel) return known.noise ? "channel,noise" : "channel";
    return known.noise ? "noise" : "none";
}

std::string_view to_string(Equalization equalization) {
    return equalization == Equalization::mmse ? "mmse" : "zero-forcing";
}

Link::Link(const LinkConfig& config)
    : config_(config),
      map_(host_, {.modulation = config.modulation}),
      measure_(host_, {.modulation = config.modulation}) {
    for (const SoftBitChoice& choice : config.soft_bits)
        demap_.emplace_back(
            host_, DemapperConfig{
                       .modulation = config.modulation, .method = choice.method, .llr_scale = choice.scale});
}

void Link::simulate(std::uint64_t slot, std::span<LinkSums> sums) {
    const std::size_t count = static_cast<std::size_t>(config_.channel.subcarriers) * 14;
    const std::size_t qm = bits_per_symbol(config_.modulation);
    const RandomSequence random(config_.seed, static_cast<std::uint64_t>(config_.snr_db * 1e6) * 7 +
                                                  static_cast<std::uint64_t>(config_.modulation));
    const RandomSequence bit_random(random.bits(slot), 0);
    const RandomSequence noise_random(random.bits(slot), 1);
    std::vector<std::uint8_t> bits(count * qm);
    for (std::size_t i = 0; i < bits.size(); ++i)
        bits[i] = bit_random.bits(i / 64) >> (i % 64) & 1;
    std::vector<cf32> sent(count), received(count);
    map_(bits, sent);
    const double n0 = std::pow(10.0, -config_.snr_db / 10.0);
    for (std::size_t i = 0; i < count; ++i)
        received[i] = sent[i] + cf32(std::sqrt(n0) * noise_random.gaussian(i));
    std::vector<std::byte> llr(bits.size() * 4);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const SoftBitChoice& choice = config_.soft_bits[i % config_.soft_bits.size()];
        const SoftBitSpan soft(choice.format, std::span(llr).first(bits.size() * size_of(choice.format)));
        demap_[i % config_.soft_bits.size()](received, static_cast<float>(n0), soft);
        SoftBitMeter meter(host_, {.llr_scale = choice.scale});
        measure_(received, sent, count, std::span(&sums[i].symbols, 1));
        sums[i].soft_bits = meter(soft, bits);
        sums[i].information = information(soft, choice.scale, bits);
    }
}

}  // namespace phy::apps
