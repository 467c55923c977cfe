#pragma once

/// Tuning of the CUDA mapper: these numbers affect speed only.
namespace phy::gpu::detail {

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

}  // namespace phy::gpu::detail
