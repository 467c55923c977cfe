#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/constellation.hpp"
#include "phy/cuda/stream.hpp"

/// The interface between the CUDA mapper on the host and its kernels.
namespace phy::gpu::detail {

/// Tuning: these numbers affect speed only.
struct MapperTuning {
    unsigned threads;                    ///< per block
    unsigned groups;                     ///< 16-byte pieces of output per lane between two loads of bits
    unsigned unrolled;                   ///< of these groups
    unsigned blocks_per_multiprocessor;  ///< max; blocks loop over further work
};

/// If few input bytes make many output bytes, more output shares the cost of a load.
constexpr MapperTuning mapper_tuning(unsigned qm, bool packed, unsigned bytes_of_symbol) {
    const unsigned groups = bytes_of_symbol == 8 ? 4 : 2;
    const unsigned times = packed && qm == 1 ? 4 : packed || qm <= 2 ? 2 : 1;
    return {256, times * groups, 4, 4096};
}

/// Number of threads per multiprocessor that the register count must allow. Compute capability 7.5 allows at
/// most 1024.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr unsigned mapper_resident_threads = 1024;
#else
constexpr unsigned mapper_resident_threads = 1536;
#endif

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
