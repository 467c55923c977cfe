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
    using Evaluator = LookUp<grid, format, Space::global, global_table_shape(grid, format)>;
};

/// Blocks take tile after tile, so that a table is brought into shared memory for many of them.
template <class Evaluator, bool counts>
__global__ void __launch_bounds__(Block<Evaluator, counts>::threads, Evaluator::shape.resident)
    look_up(const __grid_constant__ Job job, const __grid_constant__ Common common) {
    using B = Block<Evaluator, counts>;
    if constexpr (B::staging < most_shared_memory) {  // on 7.5 large blocks leave no room for a table
        extern __shared__ uint4 memory[];
        const auto* from = static_cast<const uint4*>(job.table.entries);
        for (unsigned i = threadIdx.x; i < job.table.bytes / 16; i += blockDim.x)
            memory[Evaluator::place_of(i)] = from[i];
        __syncthreads();

        auto* const table = reinterpret_cast<std::byte*>(memory);
        const Evaluator evaluate(job, table);
        Tally tally;
        for (std::uint64_t first = std::uint64_t{blockIdx.x} * B::symbols; first < job.count;
             first += std::uint64_t{gridDim.x} * B::symbols)
            demap_tiles<Evaluator, counts>(evaluate, job, common, first, table + job.table.bytes, tally);
        if constexpr (counts) add_to_counters(common, tally);
    }
}

/// What a kernel may ask for beside the few bytes that it has anyway.
int most_shared_bytes(const Device& device) {
    return static_cast<int>(device.shared_memory_per_block()) - 16;
}

template <class Evaluator, bool counts>
class LookUpKernel {
public:
    LookUpKernel(const Job& job, const Device& device)
        : job_(job), device_(device), bytes_(job.table.bytes + B::staging) {}

    [[nodiscard]] bool fits() const { return bytes_ <= static_cast<unsigned>(most_shared_bytes(device_)); }

    /// On a multiprocessor.
    [[nodiscard]] int resident_blocks() const {
        // The limit belongs to the kernel and not to the launch, so all threads have to want the same.
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   most_shared_bytes(device_)));
        int resident = 0;
        check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, B::threads, bytes_));
        return std::max(1, resident);
    }

    void launch(int resident, const Common& common, cudaStream_t stream) const {
        constexpr std::uint64_t of_block = B::symbols;
        const std::uint64_t wanted = (job_.count + of_block - 1) / of_block;
        const std::uint64_t room = static_cast<std::uint64_t>(resident) *
                                   static_cast<std::uint64_t>(device_.multiprocessors()) * table_turns;
        kernel<<<static_cast<unsigned>(std::min(wanted, room)), B::threads, bytes_, stream>>>(job_, common);
    }

private:
    using B = Block<Evaluator, counts>;
    static constexpr auto kernel = look_up<Evaluator, counts>;

    const Job& job_;
    const Device& device_;
    unsigned bytes_;
};

template <Grid grid, SoftBitFormat format>
using InShared = LookUp<grid, format, Space::shared, shared_table_shape(grid, format)>;
template <Grid grid, SoftBitFormat format>
using InSharedOfLargeBlock = LookUp<grid, format, Space::shared, large_block_shape(grid, format)>;

/// Returns false if the table has no room in shared memory.
template <Grid grid, SoftBitFormat format, bool counts>
bool look_up_in_shared(const Job& job, const Common& common, const Device& device, cudaStream_t stream) {
    const LookUpKernel<InShared<grid, format>, counts> usual(job, device);
    const LookUpKernel<InSharedOfLargeBlock<grid, format>, counts> large(job, device);
    if (!usual.fits()) return false;
    const int resident = usual.resident_blocks();
    if (resident > 1 || !large.fits()) {
        usual.launch(resident, common, stream);
    } else {
        large.launch(large.resident_blocks(), common, stream);
    }
    return true;
}

void launch_one(const Job& job, const Common& common, const Device& device, cudaStream_t stream) {
    with_format(common.format, [&](auto format) {
        with_grid<2>(job.grid, [&](auto grid) {
            with_counts(common, [&](auto counts) {
                if (!look_up_in_shared<grid(), format(), counts()>(job, common, device, stream))
                    launch_job<InGlobal<format()>>(job, common, stream);
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
            load(look_up<InShared<grid(), format()>, false>);
            load(look_up<InShared<grid(), format()>, true>);
            load(look_up<InSharedOfLargeBlock<grid(), format()>, false>);
            load(look_up<InSharedOfLargeBlock<grid(), format()>, true>);
        });
    });
}

void load_many(SoftBitFormat of_output) {
    with_format(of_output, [](auto format) { load_batch<InGlobal<format()>>(); });
}

}  // namespace

const Family table_family = {launch_one, launch_many, global_table_shape, load_one, load_many};

}  // namespace phy::gpu::detail
