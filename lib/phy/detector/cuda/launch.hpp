#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/demapper/math/formula.hpp"
#include "phy/equalizer/cuda/launch.hpp"

/// The interface between the host's side of the CUDA detector and its kernels.
namespace phy::gpu::detail {

/// Soft bits in int8 by max-log.
struct DetectorOutput {
    std::byte* llr;
    const std::uint32_t* signs;  ///< or null
    unsigned sign_words;         ///< of a slot
    phy::detail::GainRule gain;
    phy::detail::Constellation constellation;
    bool rotating;  ///< pi/2-BPSK
    bool aligned;   ///< llr, to 16 bytes
};

/// Start a kernel on the current device, of a job with MMSE, by layers.
void launch_one_layer(const EqualizerJob& job, const DetectorOutput& out, cudaStream_t stream);
void launch_two_layers(const EqualizerJob& job, const DetectorOutput& out, cudaStream_t stream);
void launch_three_layers(const EqualizerJob& job, const DetectorOutput& out, cudaStream_t stream);
void launch_four_layers(const EqualizerJob& job, const DetectorOutput& out, cudaStream_t stream);

}  // namespace phy::gpu::detail
