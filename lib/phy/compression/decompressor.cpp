#include <algorithm>

#include "phy/compression/block_float.hpp"
#include "phy/compression/host/kernels.hpp"
#include "phy/compression/math/check.hpp"
#include "phy/machine/thread_pool.hpp"

#define PHY_KERNELS "phy/compression/host/kernels-inl.h"
#include "phy/simd/for_each_target.inc"

namespace phy {
namespace detail {
namespace {

const DecompressionKernels& decompression_kernels(const Backend& backend) {
    return PHY_KERNELS_FOR(backend, DecompressionKernels);
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
    const auto* const bytes = reinterpret_cast<const std::uint8_t*>(compressed.data());
    const std::size_t block_bytes = bytes_per_block(config_);
    const float unit = detail::unit_of(config_);

    // Resource blocks per piece of work.
    constexpr std::size_t piece = 1024;
    host_.pool().for_each((blocks + piece - 1) / piece, [&](int, std::size_t index) noexcept {
        const std::size_t first = index * piece;
        const detail::CompressedBlocks in = {.bytes = bytes + first * block_bytes,
                                             .blocks = std::min(piece, blocks - first),
                                             .width = static_cast<unsigned>(config_.width),
                                             .has_exponent = config_.has_exponent};
        std::byte* const out = elements.data() + first * elements_per_block * size_of(elements.format());
        if (elements.format() == SampleFormat::ci16)
            kernels.to_integers(in, out);
        else
            kernels.to_floats(in, unit, out);
    });
}

}  // namespace phy
