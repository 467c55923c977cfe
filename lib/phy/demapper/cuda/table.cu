#include <algorithm>

#include <cuda_runtime.h>

#include "phy/demapper/cuda/kernel_set.cuh"

namespace phy::gpu::detail {
/// Evaluates by table. The table is in shared memory or, if it does not fit, in global memory.
template <Constellation of, SoftBitFormat to, Space space, Shape of_tile>
struct LookUp {
    static constexpr Constellation constellation = of;
    static constexpr SoftBitFormat format = to;
    static constexpr Shape shape = of_tile;
    static constexpr bool is_early = false;
    static constexpr int bits = bits_of(constellation);

    const phy::detail::TableScale& scale;
    const std::byte* entries;

    __device__ explicit LookUp(const Job& job)
        : LookUp(job, static_cast<const std::byte*>(job.table.entries)) {}
    __device__ LookUp(const Job& job, const std::byte* copy) : scale(job.table.scale), entries(copy) {}

    __device__ __forceinline__ void operator()(const float* y, const float*, const float*,
                                               std::uint32_t* words) const {
        if constexpr (format == SoftBitFormat::int8) {
            look_up_bytes(y, words);
        } else {
            look_up_lines(y, words);
        }
    }

    /// The position of a piece of 16 bytes of the table. If entries have two pieces, every other group of
    /// four entries has them swapped: lanes that read the same piece would otherwise use half of the banks.
    static __device__ __forceinline__ unsigned place_of(unsigned piece) {
        return has_swapped_pieces ? piece ^ (piece >> 3 & 1U) : piece;
    }

private:
    static constexpr bool has_swapped_pieces =
        space == Space::shared && to != SoftBitFormat::int8 && 8 * bits == 32;

    static __device__ __forceinline__ std::uint32_t index_of(float entry) {
        return __float_as_uint(entry) & entry_bits;
    }

    /// Byte k of an entry is the soft bit k; soft bits of I and Q alternate in the output.
    __device__ __forceinline__ void look_up_bytes(const float* y, std::uint32_t* words) const {
        constexpr int entry_words = (bits + 3) / 4;
        std::uint32_t entry[2 * shape.symbols][entry_words];
#pragma unroll
        for (int c = 0; c < 2 * shape.symbols; ++c) {
            const std::uint32_t index = index_of(nearest_entry<Ops>(y[c], scale));
            load_words<space, 4 * entry_words>(entries + 4 * entry_words * index, entry[c]);
        }
        const auto pair = [&entry](int n) {
            const int symbol = n / bits;
            const int k = n % bits;
            const unsigned selector = static_cast<unsigned>(k % 4 + 16 * (k % 4 + 4));
            return __byte_perm(entry[2 * symbol][k / 4], entry[2 * symbol + 1][k / 4], selector);
        };
#pragma unroll
        for (int n = 0; n < shape.symbols * bits; n += 2) {
            const int k = n % bits;
            if (k + 1 < bits && k / 4 == (k + 1) / 4) {
                const int symbol = n / bits;
                const unsigned selector = static_cast<unsigned>(0x5140 + 0x1111 * (k % 4));
                words[n / 2] = __byte_perm(entry[2 * symbol][k / 4], entry[2 * symbol + 1][k / 4], selector);
            } else {
                words[n / 2] = __byte_perm(pair(n), pair(n + 1), 0x5410);
            }
        }
    }

    __device__ __forceinline__ void load_line(std::uint32_t index, std::uint32_t* line) const {
        if constexpr (has_swapped_pieces) {
            const std::uint32_t values = 16 * place_of(2 * index);
            load_words<space, 16>(entries + values, line);
            load_words<space, 16>(entries + (values ^ 16U), line + 4);
        } else {
            load_words<space, 8 * bits>(entries + 8 * bits * index, line);
        }
    }

    __device__ __forceinline__ void look_up_lines(const float* y, std::uint32_t* words) const {
        constexpr float limit = phy::detail::soft_bit_format_facts[static_cast<int>(format)].largest;
        float llrs[2 * shape.symbols * bits];
#pragma unroll
        for (int c = 0; c < 2 * shape.symbols; ++c) {
            float fraction;
            const std::uint32_t index = index_of(entry_below<Ops>(y[c], scale, fraction));
            std::uint32_t line[2 * bits];
            load_line(index, line);
#pragma unroll
            for (int k = 0; k < bits; ++k) {
                const float rise = Ops::mul(__uint_as_float(line[bits + k]), Ops::abs(fraction));
                const float of_magnitude = Ops::add(__uint_as_float(line[k]), rise);
                const float llr =
                    Ops::clamp(k == 0 ? Ops::flip(of_magnitude, fraction) : of_magnitude, limit);
                llrs[(c / 2 * bits + k) * 2 + c % 2] = Ops::add(llr, 0.0F);
            }
        }
        pack<format, 2 * shape.symbols * bits>(llrs, words);
    }
};

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
                                   static_cast<std::uint64_t>(device_.multiprocessors()) *
                                   table_waves(LaneDemapper::format, job_.table.bytes);
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
