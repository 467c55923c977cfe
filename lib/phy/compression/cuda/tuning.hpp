#pragma once

/// Tuning of the CUDA decompressor: these numbers affect speed only.
namespace phy::gpu::detail {

/// Resource blocks per block of threads, three threads for each. A multiple of 16, so that each tile begins
/// at a multiple of 16 bytes.
constexpr unsigned decompressor_tile = 64;

}  // namespace phy::gpu::detail
