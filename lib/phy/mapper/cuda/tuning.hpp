#pragma once

/// The numbers that decide how fast the CUDA mapper is, and nothing else.
namespace phy::gpu::detail {

struct MapperTuning {
    unsigned threads;                    ///< a block
    unsigned groups;                     ///< 16-byte pieces of output a lane, between two loads of bits
    unsigned unrolled;                   ///< of these
    unsigned blocks_per_multiprocessor;  ///< at most; with yet more to do, blocks loop
};

/// Where few bytes come in for many that go out, more output shares the costs of a load.
constexpr MapperTuning mapper_tuning(unsigned qm, bool packed, unsigned bytes_of_symbol) {
    const unsigned groups = bytes_of_symbol == 8 ? 4 : 2;
    const unsigned times = packed && qm == 1 ? 4 : packed || qm <= 2 ? 2 : 1;
    return {256, times * groups, 4, 4096};
}

/// For how many threads a multiprocessor must have registers; compute capability 7.5 has no more than 1024.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr unsigned mapper_resident_threads = 1024;
#else
constexpr unsigned mapper_resident_threads = 1536;
#endif

}  // namespace phy::gpu::detail
