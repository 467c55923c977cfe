#include "phy/compression/block_float.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "phy/compression/blocks.hpp"
#include "phy/machine/thread_pool.hpp"

#define PHY_KERNELS "phy/compression/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

const DecompressionKernels& decompression_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, DecompressionKernels);
}

/// Uses the thread's rounding mode; phy assumes the default, to nearest even, everywhere.
std::int16_t rounded(float component, float full_scale) {
    const float scaled = component * full_scale;
    if (std::isnan(scaled)) return 0;
    return static_cast<std::int16_t>(std::nearbyint(std::clamp(scaled, -32768.0F, 32767.0F)));
}

void load_block(SampleFormat format, const std::byte* from, float full_scale,
                std::int16_t (&components)[components_per_block]) {
    if (format == SampleFormat::ci16) {
        std::memcpy(components, from, sizeof components);
        return;
    }
    float floats[components_per_block];
    std::memcpy(floats, from, sizeof floats);
    for (int i = 0; i < components_per_block; ++i)
        components[i] = rounded(floats[i], full_scale);
}

void store_block(const std::int16_t (&components)[components_per_block], const BlockFloatConfig& config,
                 std::byte* to) {
    unsigned magnitudes = 0;
    for (const std::int16_t component : components)
        magnitudes |= magnitude_of(component);
    const int exponent = config.has_exponent ? smallest_exponent(magnitudes, config.width) : 0;
    if (config.has_exponent) *to++ = static_cast<std::byte>(exponent);

    const int largest = (1 << (config.width - 1)) - 1;
    std::uint64_t bits = 0;
    int waiting = 0;
    for (const std::int16_t component : components) {
        const int mantissa = std::clamp(component >> exponent, -largest - 1, largest);
        bits = bits << config.width | (static_cast<unsigned>(mantissa) & ((2U << (config.width - 1)) - 1));
        for (waiting += config.width; waiting >= 8; waiting -= 8)
            *to++ = static_cast<std::byte>(bits >> (waiting - 8));
    }
}

}  // namespace
}  // namespace detail

BlockFloatDecompressor::BlockFloatDecompressor(const Host& host, const Config& config)
    : host_(host), config_(config) {
    detail::check_config(config);
}

void BlockFloatDecompressor::operator()(std::span<const std::byte> compressed, SymbolSpan elements) const {
    const std::size_t blocks =
        detail::checked_blocks(config_, elements.format(), elements.size(), compressed.size());
    const auto& kernels = detail::decompression_kernels(host_.backend());
    const std::size_t block_bytes = bytes_per_block(config_);
    const float unit = detail::unit_of(config_);

    // Resource blocks per piece of work.
    constexpr std::size_t piece = 1024;
    host_.pool().for_each((blocks + piece - 1) / piece, [&](int, std::size_t index) noexcept {
        const std::size_t first = index * piece;
        const std::size_t here = std::min(piece, blocks - first);
        const detail::CompressedBlocks in =
            detail::compressed_blocks(config_, compressed.data() + first * block_bytes);
        std::byte* const out = elements.data() + first * elements_per_block * size_of(elements.format());
        if (elements.format() == SampleFormat::ci16)
            kernels.to_integers(in, here, out);
        else
            kernels.to_floats(in, here, unit, out);
    });
}

BlockFloatCompressor::BlockFloatCompressor(const Host& host, const Config& config)
    : host_(host), config_(config) {
    detail::check_config(config);
}

void BlockFloatCompressor::operator()(SymbolView elements, std::span<std::byte> compressed) const {
    const std::size_t blocks =
        detail::checked_blocks(config_, elements.format(), elements.size(), compressed.size());
    const std::size_t in_bytes = elements_per_block * size_of(elements.format());
    const std::size_t out_bytes = bytes_per_block(config_);
    const float full_scale = detail::full_scale_of(config_);

    constexpr std::size_t piece = 256;
    host_.pool().for_each((blocks + piece - 1) / piece, [&](int, std::size_t index) noexcept {
        const std::size_t end = std::min(blocks, (index + 1) * piece);
        for (std::size_t block = index * piece; block < end; ++block) {
            std::int16_t components[detail::components_per_block];
            detail::load_block(elements.format(), elements.data() + block * in_bytes, full_scale, components);
            detail::store_block(components, config_, compressed.data() + block * out_bytes);
        }
    });
}

}  // namespace phy
