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
    static constexpr bool by_law = false;
    template <Grid grid, Law>
    using Evaluator = LookUp<grid, format, Space::global>;
};

/// Blocks take tile after tile, so that a table is brought into shared memory for many of them.
template <class Evaluator, bool counts>
__global__ void __launch_bounds__(Block<Evaluator, counts>::threads, Evaluator::shape.resident)
    look_up(const __grid_constant__ Job job, const __grid_constant__ Common common) {
    extern __shared__ uint4 memory[];
    const auto* from = static_cast<const uint4*>(job.table.entries);
    for (unsigned i = threadIdx.x; i < job.table.bytes / 16; i += blockDim.x)
        memory[Evaluator::place_of(i)] = from[i];
    __syncthreads();

    auto* const table = reinterpret_cast<std::byte*>(memory);
    const Evaluator evaluate(job, table);
    constexpr std::uint64_t of_block = Block<Evaluator, counts>::symbols;
    Tally tally;
    for (std::uint64_t first = blockIdx.x * of_block; first < job.count; first += gridDim.x * of_block)
        demap_tiles<Evaluator, counts>(evaluate, job, common, first, table + job.table.bytes, tally);
    if constexpr (counts) add_to_counters(common, tally);
}

template <class Evaluator>
constexpr std::size_t shared_bytes(const Job& job) {
    return job.table.bytes + Block<Evaluator, false>::staging;
}

/// What a kernel may ask for beside the few bytes that it has anyway.
int most_shared_bytes(const Device& device) {
    return static_cast<int>(device.shared_memory_per_block()) - 16;
}

template <class Evaluator, bool counts>
void look_up_in_shared(const Job& job, const Common& common, const Device& device, cudaStream_t stream) {
    constexpr int threads = Block<Evaluator, counts>::threads;
    constexpr auto kernel = look_up<Evaluator, counts>;
    const std::size_t bytes = shared_bytes<Evaluator>(job);
    // The limit belongs to the kernel and not to the launch, so all threads have to want the same.
    check(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, most_shared_bytes(device)));
    int resident = 0;
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, threads, bytes));
    constexpr std::uint64_t of_block = Block<Evaluator, counts>::symbols;
    const std::uint64_t wanted = (job.count + of_block - 1) / of_block;
    const std::uint64_t room = static_cast<std::uint64_t>(std::max(1, resident)) *
                               static_cast<std::uint64_t>(device.multiprocessors()) * table_turns;
    kernel<<<static_cast<unsigned>(std::min(wanted, room)), threads, bytes, stream>>>(job, common);
}

void launch_one(const Job& job, const Common& common, const Device& device, cudaStream_t stream) {
    with_format(common.format, [&](auto format) {
        with_grid<2>(job.grid, [&](auto grid) {
            using Evaluator = LookUp<grid(), format(), Space::shared>;
            if (shared_bytes<Evaluator>(job) > static_cast<std::size_t>(most_shared_bytes(device)))
                return launch_job<InGlobal<format()>>(job, common, stream);
            with_counts(common, [&](auto counts) {
                look_up_in_shared<Evaluator, counts()>(job, common, device, stream);
            });
        });
    });
}

void launch_many(const Batch& batch, cudaStream_t stream) {
    with_format(batch.common.format, [&](auto format) { launch_batch<InGlobal<format()>>(batch, stream); });
}

void load_one(Grid of_jobs, SoftBitFormat of_output) {
    with_format(of_output, [&](auto format) {
        load_job<InGlobal<format()>>(of_jobs);
        with_grid<2>(of_jobs, [&](auto grid) {
            using Evaluator = LookUp<grid(), format(), Space::shared>;
            load(look_up<Evaluator, false>);
            load(look_up<Evaluator, true>);
        });
    });
}

void load_many(SoftBitFormat of_output) {
    with_format(of_output, [](auto format) { load_batch<InGlobal<format()>>(); });
}

}  // namespace

const Family table_family = {launch_one, launch_many, global_table_shape, load_one, load_many};

}  // namespace phy::gpu::detail
