#include "compression/element_kernel.hpp"
#include "phy/compression/cuda/block_float.cuh"

namespace phy_test {
namespace {

__global__ void load_each(phy::gpu::detail::CompressedBlocks in, phy::ci16* out, std::size_t count) {
    const std::size_t element = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (element >= count) return;
    std::int32_t i = 0;
    std::int32_t q = 0;
    phy::gpu::detail::decompress_element(in, element, i, q);
    out[element] = {phy::detail::limited_to_16_bits(i), phy::detail::limited_to_16_bits(q)};
}

}  // namespace

void load_elements(const phy::BlockFloatConfig& config, phy::gpu::DeviceSpan<const std::byte> compressed,
                   phy::gpu::DeviceSpan<phy::ci16> elements, cudaStream_t stream) {
    constexpr unsigned threads = 128;
    const auto blocks = static_cast<unsigned>((elements.size() + threads - 1) / threads);
    load_each<<<blocks, threads, 0, stream>>>({.bytes = compressed.data(),
                                               .width = static_cast<unsigned>(config.width),
                                               .header_bytes = config.has_exponent ? 1U : 0U},
                                              elements.data(), elements.size());
}

}  // namespace phy_test
