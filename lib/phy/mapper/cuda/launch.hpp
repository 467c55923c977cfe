#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/constellation.hpp"
#include "phy/cuda/stream.hpp"

/// The interface between the CUDA mapper on the host and its kernels.
namespace phy::gpu::detail {

/// The values of an axis; both axes are alike. Bits of binary32, or a value of 16 bits twice in its word.
using AxisValues = std::array<std::uint32_t, std::size_t{1} << max_axis_bits>;

/// Stores the Q value of a label where the kernel reads it.
void set_axis_value(AxisValues& values, unsigned qm, unsigned label, std::uint32_t word);

struct MapperJob {
    const AxisValues& values;
    const std::uint8_t* bits;
    std::size_t bits_bytes;
    std::byte* symbols;
    std::size_t symbols_bytes;  ///< not 0
    Modulation modulation;
    unsigned bytes_of_symbol;  ///< 8 or 4
    bool packed;
    bool odd;  ///< the index of the first symbol is odd
};

/// Starts a kernel on the current device.
void launch(const MapperJob& job, int multiprocessors, cudaStream_t stream);

}  // namespace phy::gpu::detail
