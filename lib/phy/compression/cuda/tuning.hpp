#pragma once

/// The numbers that decide how fast the CUDA decompressor is, and nothing else.
namespace phy::gpu::detail {

/// Resource blocks that a block of threads decompresses, one thread for each third of one. A multiple of 16,
/// so that each tile begins at a multiple of 16 bytes.
constexpr unsigned decompressor_tile = 64;

}  // namespace phy::gpu::detail
