#include <algorithm>

#include <cuda_runtime.h>

#include "phy/demapper/cuda/kernel_set.cuh"
#include "phy/demapper/cuda/table.cuh"

namespace phy::gpu::detail {
namespace {

/// The table is in global memory; the caches may hold it.
template <SoftBitFormat format>
struct InGlobal {
    static constexpr int min_bits = 2;
    static constexpr bool flips = false;
    static constexpr bool by_formula = false;
    template <Constellation constellation, Formula>
    using LaneDemapper =
        LookUp<constellation, format, Space::global, global_table_shape(constellation, format)>;
};

/// Blocks process many tiles, so that each copy of a table to shared memory serves many.
template <class LaneDemapper, bool counts>
__global__ void __launch_bounds__(Block<LaneDemapper, counts>::threads, LaneDemapper::shape.resident)
    look_up(const __grid_constant__ Job job, const __grid_constant__ Common common) {
    using B = Block<LaneDemapper, counts>;
    if constexpr (B::staging < max_shared_memory) {  // on 7.5 large blocks leave no space for a table
        extern __shared__ uint4 memory[];
        const auto* from = static_cast<const uint4*>(job.table.entries);
        for (unsigned i = threadIdx.x; i < job.table.bytes / 16; i += blockDim.x)
            memory[LaneDemapper::place_of(i)] = from[i];
        __syncthreads();

        auto* const table = reinterpret_cast<std::byte*>(memory);
        const LaneDemapper evaluate(job, table);
        Tally tally;
        for (std::uint64_t first = std::uint64_t{blockIdx.x} * B::symbols; first < job.count;
             first += std::uint64_t{gridDim.x} * B::symbols)
            demap_tiles<LaneDemapper, counts, false>(evaluate, job, common, first, table + job.table.bytes,
                                                     tally);
        if constexpr (counts) add_to_counters(common, tally);
    }
}

/// The shared memory that a kernel may request, besides the few bytes that it has anyway.
int max_shared_bytes(const Device& device) {
    return static_cast<int>(device.shared_memory_per_block()) - 16;
}

template <class LaneDemapper, bool counts>
class LookUpKernel {
public:
    LookUpKernel(const Job& job, const Device& device)
        : job_(job), device_(device), bytes_(job.table.bytes + B::staging) {}

    [[nodiscard]] bool fits() const { return bytes_ <= static_cast<unsigned>(max_shared_bytes(device_)); }

    /// Blocks that fit on a multiprocessor.
    [[nodiscard]] int resident_blocks() const {
        // The limit belongs to the kernel and not to the launch, so all threads must set the same value.
        check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   max_shared_bytes(device_)));
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
    using B = Block<LaneDemapper, counts>;
    static constexpr auto kernel = look_up<LaneDemapper, counts>;

    const Job& job_;
    const Device& device_;
    unsigned bytes_;
};

template <Constellation constellation, SoftBitFormat format>
using InShared = LookUp<constellation, format, Space::shared, shared_table_shape(constellation, format)>;
template <Constellation constellation, SoftBitFormat format>
using InSharedOfLargeBlock =
    LookUp<constellation, format, Space::shared, large_block_shape(constellation, format)>;

/// Returns false if the table does not fit into shared memory.
template <Constellation constellation, SoftBitFormat format, bool counts>
bool look_up_in_shared(const Job& job, const Common& common, const Device& device, cudaStream_t stream) {
    const LookUpKernel<InShared<constellation, format>, counts> usual(job, device);
    const LookUpKernel<InSharedOfLargeBlock<constellation, format>, counts> large(job, device);
    if (!usual.fits()) return false;
    const int resident = usual.resident_blocks();
    if (resident > 1 || !large.fits()) {
        usual.launch(resident, common, stream);
    } else {
        large.launch(large.resident_blocks(), common, stream);
    }
    return true;
}

template <SoftBitFormat format>
struct OneJob {
    static void launch(const Job& job, const Common& common, bool /*flips*/, const Device& device,
                       cudaStream_t stream) {
        with_constellation<2>(job.constellation, [&](auto constellation) {
            with_counts(common, [&](auto counts) {
                if (!look_up_in_shared<constellation(), format, counts()>(job, common, device, stream))
                    launch_job<InGlobal<format>>(job, common, false, stream);
            });
        });
    }

    static void load(Constellation of_jobs) {
        load_jobs<InGlobal<format>>(of_jobs);
        with_constellation<2>(of_jobs, [](auto constellation) {
            load_code(look_up<InShared<constellation(), format>, false>);
            load_code(look_up<InShared<constellation(), format>, true>);
            load_code(look_up<InSharedOfLargeBlock<constellation(), format>, false>);
            load_code(look_up<InSharedOfLargeBlock<constellation(), format>, true>);
        });
    }
};

}  // namespace

const AlgorithmKernels table_kernels = KernelsOf<OneJob, InGlobal>::all;

}  // namespace phy::gpu::detail
