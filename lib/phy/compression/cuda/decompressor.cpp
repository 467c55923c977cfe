#include "phy/compression/block_float_cuda.hpp"
#include "phy/compression/cuda/launch.hpp"
#include "phy/compression/math/check.hpp"

namespace phy::gpu {

BlockFloatDecompressor::BlockFloatDecompressor(const Device& device, const Config& config)
    : device_(device), config_(config) {
    phy::detail::check_config(config);
}

void BlockFloatDecompressor::operator()(DeviceSpan<const std::byte> compressed, SymbolSpan elements,
                                        cudaStream_t stream) const {
    const std::size_t blocks =
        phy::detail::checked_blocks(config_, elements.format(), elements.size(), compressed.size());
    if (blocks == 0) return;
    const CurrentDevice current(device_);
    detail::launch({.in = compressed.data(),
                    .out = elements.data(),
                    .format = elements.format(),
                    .blocks = blocks,
                    .width = config_.width,
                    .has_exponent = config_.has_exponent,
                    .unit = phy::detail::unit_of(config_)},
                   stream);
}

}  // namespace phy::gpu
