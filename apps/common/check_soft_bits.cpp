#include "common/check_soft_bits.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "phy/core/error.hpp"

namespace phy::apps {

void spoil_soft_bits(const SoftDemapStage& stage, std::span<std::byte> soft_bits) {
    constexpr std::byte nonsense{0x55};
    const std::size_t bytes = std::min(soft_bits.size(), stage.output_bytes(checked_symbols));
    std::ranges::fill(soft_bits.first(bytes), nonsense);
    std::ranges::fill(soft_bits.last(bytes), nonsense);
}

void check_soft_bits(const SoftDemapStage& stage, std::span<const std::byte> symbols,
                     std::span<const std::byte> soft_bits) {
    const SoftDemapStage::Config& config = stage.config();
    SoftDemapper demap({.modulation = config.modulation,
                        .method = config.method,
                        .evaluator = config.evaluator,
                        .llr_scale = config.llr_scale,
                        .llr_clip = config.llr_clip,
                        .full_scale = config.full_scale,
                        .backend = Backend::scalar()});

    const SymbolView all(config.input, symbols.data(), symbols.size() / size_of(config.input));
    const std::size_t count = std::min(all.size(), checked_symbols);
    std::vector<std::byte> expected(stage.output_bytes(count));
    for (const std::size_t first : {std::size_t{0}, all.size() - count}) {
        demap(all.subview(first, count), NoiseVariance(config.noise_variance.value()),
              stage.soft_bits_of(expected), first);
        const auto found = soft_bits.subspan(stage.output_bytes(first), expected.size());
        const auto differ = std::ranges::mismatch(found, expected).in1;
        if (differ == found.end()) continue;
        const auto byte = stage.output_bytes(first) + static_cast<std::size_t>(differ - found.begin());
        throw Error(fmt::format("soft bit {} is not what the scalar backend gives: the pipeline is wrong",
                                byte / size_of(config.output)));
    }
}

}  // namespace phy::apps
