#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/detector/math/plan.hpp"

/// The interface between the host side of the CUDA detector and its kernels.
namespace phy::gpu::detail {

constexpr unsigned detector_threads = 128;  ///< per block; affects speed only

struct DetectorJob {
    const LayerPair* pairs;
    std::uint64_t symbols;  ///< 2 per pair
    std::byte* llr;
    const std::uint32_t* signs;  ///< one bit per soft bit, or null
    const std::int8_t* priors;   ///< one per soft bit, or null
    phy::detail::LlrRange range;
    SoftBitFormat format;
    unsigned soft_bit_bytes;
    bool is_aligned;  ///< llr, to 16 bytes
};

/// Starts the kernel for this many bits per axis on the current device.
void launch(std::size_t axis_bits, const DetectorJob& job, cudaStream_t stream);

/// Makes the driver load its code.
void load_detector(std::size_t axis_bits);

}  // namespace phy::gpu::detail
