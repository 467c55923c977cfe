#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/ofdm/math/check.hpp"
#include "phy/ofdm/math/fft_plan.hpp"
#include "phy/ofdm/math/phases.hpp"
#include "phy/ofdm/ofdm_config.hpp"

/// The interface between the host code of OFDM on a GPU and its kernels.
namespace phy::gpu::detail {

/// All pointers are to device memory.
struct DemodulateJob {
    phy::detail::Fft fft;
    phy::detail::SymbolPhases phases;
    OfdmTiming timing;
    const cf32* rotation = nullptr;  ///< factors of samples in the order of the transform, or null
    phy::detail::OfdmSizes sizes = {};
    std::uint32_t window_offset = 0;
    float unit = 1.0F;  ///< the value of the integer 1
    SampleFormat format = SampleFormat::cf32;
    const std::byte* samples = nullptr;
    std::uint64_t first_slot = 0;
    std::uint32_t symbols = 0;  ///< of all antennas and slots, not 0
    cf32* grid = nullptr;
};

struct PrecodeJob {
    phy::detail::Fft fft;
    bool inverse = false;
    float factor = 1.0F;
    const cf32* in = nullptr;
    cf32* out = nullptr;
    std::uint32_t symbols = 0;  ///< not 0
};

/// Load the kernels for a transform on the current device and allow them the shared memory that they need.
void prepare_demodulate(const phy::detail::Fft& fft);
void prepare_precode();

/// The kernel for 512, 1024, 2048 and 4096 points, if samples and grid are aligned to their elements.
/// launch_in_two_steps() returns false, and has started nothing, for other sizes.
void prepare_two_steps(const phy::detail::Fft& fft);
bool launch_in_two_steps(const DemodulateJob& job, cudaStream_t stream);

/// Start a kernel on the current device.
void launch(const DemodulateJob& job, cudaStream_t stream);
void launch(const PrecodeJob& job, cudaStream_t stream);

}  // namespace phy::gpu::detail
