#include <algorithm>

#include <cuda_runtime.h>

#include "phy/demapper/dispatch_cuda.cuh"
#include "phy/demapper/families_cuda.hpp"
#include "phy/demapper/table_cuda.cuh"

namespace phy::gpu::detail {
namespace {

/// With the table in global memory, where the caches may hold it.
template <SoftBitFormat format>
struct InGlobal {
    static constexpr int fewest_bits = 2;
    template <Grid grid>
    using Evaluator = LookUp<grid, format, Space::global>;
};

constexpr std::uint32_t padded(std::uint32_t bytes) {
    return (bytes + 15) / 16 * 16;
}

/// Blocks stay, and take tile after tile, so that each brings the table into its shared memory once.
template <class Evaluator>
__global__ void __launch_bounds__(Evaluator::shape.threads)
    look_up(const __grid_constant__ Job job, const __grid_constant__ Common common) {
    extern __shared__ uint4 memory[];
    const auto* from = static_cast<const uint4*>(job.table.entries);
    for (unsigned i = threadIdx.x; i < padded(job.table.bytes) / 16; i += blockDim.x)
        memory[i] = from[i];
    __syncthreads();

    constexpr unsigned warps = Evaluator::shape.threads / warp_size;
    const unsigned warp = threadIdx.x / warp_size;
    auto* const table = reinterpret_cast<std::byte*>(memory);
    std::byte* const staging = table + padded(job.table.bytes) + warp * Layout<Evaluator>::staging;
    const Evaluator evaluate(job, table);
    const std::uint64_t tiles = (job.count + Layout<Evaluator>::symbols - 1) / Layout<Evaluator>::symbols;
    Tally tally;
    for (std::uint64_t tile = blockIdx.x * warps + warp; tile < tiles; tile += gridDim.x * warps)
        demap_tile(evaluate, job, common, tile, staging, tally);
    add_to_counters(common, tally);
}

/// Launches if the table has room in shared memory.
template <class Evaluator>
bool look_up_in_shared(const Job& job, const Common& common, const Device& device, cudaStream_t stream) {
    const std::size_t bytes = padded(job.table.bytes) + staging_of_block<Evaluator>;
    if (bytes > device.shared_memory_per_block()) return false;
    constexpr int threads = Evaluator::shape.threads;
    check(cudaFuncSetAttribute(look_up<Evaluator>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(bytes)));
    int resident = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, look_up<Evaluator>, threads, bytes));
    constexpr std::uint64_t of_block = symbols_of_block(Evaluator::shape);
    const std::uint64_t wanted = (job.count + of_block - 1) / of_block;
    const std::uint64_t room = static_cast<std::uint64_t>(std::max(1, resident)) *
                               static_cast<std::uint64_t>(device.multiprocessors());
    look_up<Evaluator>
        <<<static_cast<unsigned>(std::min(wanted, room)), threads, bytes, stream>>>(job, common);
    return true;
}

}  // namespace

void launch_table(const Job& job, const Common& common, const Device& device, cudaStream_t stream) {
    with_format(common.format, [&](auto format) {
        with_grid<2>(job.grid, [&](auto grid) {
            if (!look_up_in_shared<LookUp<grid(), format(), Space::shared>>(job, common, device, stream))
                launch_job<InGlobal<format()>>(job, common, stream);
        });
    });
}

void launch_table(const Batch& batch, cudaStream_t stream) {
    with_format(batch.common.format, [&](auto format) { launch_batch<InGlobal<format()>>(batch, stream); });
}

}  // namespace phy::gpu::detail
