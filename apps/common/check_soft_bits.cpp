#include "common/check_soft_bits.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <fmt/format.h>

#include "phy/core/error.hpp"

namespace phy::apps {
namespace {

std::size_t soft_bit_bytes(const SoftDemapStage& stage, std::size_t symbols) {
    return stage.outputs().front().bytes_of(symbols);
}

}  // namespace

void spoil_soft_bits(const SoftDemapStage& stage, std::span<std::byte> soft_bits) {
    constexpr std::byte nonsense{0x55};
    const std::size_t bytes = std::min(soft_bits.size(), soft_bit_bytes(stage, checked_symbols));
    std::ranges::fill(soft_bits.first(bytes), nonsense);
    std::ranges::fill(soft_bits.last(bytes), nonsense);
}

void check_soft_bits(const SoftDemapStage& stage, std::span<const std::byte> symbols,
                     std::span<const std::byte> soft_bits) {
    const SoftDemapStage::Config& config = stage.config();
    SoftDemapper demap(Host({.backend = Backend::scalar()}), config.demapper);
    const SymbolView all(config.input, symbols);
    const std::size_t count = std::min(all.size(), checked_symbols);
    std::vector<std::byte> expected(soft_bit_bytes(stage, count));
    for (const std::size_t first : {std::size_t{0}, all.size() - count}) {
        demap(all.subspan(first, count), config.noise_variance.value(), {config.output, expected}, first);
        const auto found = soft_bits.subspan(soft_bit_bytes(stage, first), expected.size());
        const auto differ = std::ranges::mismatch(found, expected).in1;
        if (differ == found.end()) continue;
        const auto byte = soft_bit_bytes(stage, first) + static_cast<std::size_t>(differ - found.begin());
        throw Error(fmt::format("soft bit {} differs from the scalar backend's: the pipeline is wrong",
                                byte / size_of(config.output)));
    }
}

}  // namespace phy::apps
