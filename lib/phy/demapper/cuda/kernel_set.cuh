#pragma once

#include <algorithm>
#include <type_traits>

#include "phy/cuda/dependent_launch.cuh"
#include "phy/cuda/dispatch.cuh"
#include "phy/demapper/cuda/launch.hpp"
#include "phy/demapper/cuda/tile.cuh"

/// Turns lane demappers into kernels, for single jobs and for batches.
namespace phy::gpu::detail {

/// Calls visit(std::integral_constant) for constellations with at least min_bits bits per axis.
template <int min_bits, typename Visitor>
__host__ __device__ __forceinline__ constexpr void with_constellation(Constellation constellation,
                                                                      Visitor visit) {
    constexpr auto count = static_cast<unsigned>(max_axis_bits) + 1;
    with_constant_by_bits<Constellation, count, min_bits == 1 ? 0 : min_bits>(constellation, visit);
}

template <Formula formula>
using FormulaConstant = std::integral_constant<Formula, formula>;

/// Calls visit(FormulaConstant) with the constellation's formula, or with this one if the set has kernels for
/// each.
template <Constellation constellation, bool by_formula, typename Visitor>
__host__ __device__ __forceinline__ constexpr void with_formula(Formula formula, Visitor visit) {
    constexpr Formula general = simplest_formula(constellation, Formula::all_segments);
    if constexpr (by_formula && general != Formula::one_segment) {
        if (formula == Formula::one_segment) return visit(FormulaConstant<Formula::one_segment>());
    }
    if constexpr (by_formula && general == Formula::all_segments) {
        if (formula == Formula::two_segments) return visit(FormulaConstant<Formula::two_segments>());
    }
    visit(FormulaConstant<general>());
}

/// Calls visit(std::type_identity) of the lane demapper that a kernel set has for a constellation and a
/// formula. A kernel set has lane demappers for one format: by constellation, from KernelSet::min_bits per
/// axis on; with KernelSet::by_formula also by formula; with KernelSet::flips also those that apply signs.
template <class KernelSet, typename Visitor>
__host__ __device__ __forceinline__ constexpr void with_lane_demapper(Constellation of_job,
                                                                      Formula formula_of_job, Visitor visit) {
    with_constellation<KernelSet::min_bits>(of_job, [&](auto constellation) {
        with_formula<constellation(), KernelSet::by_formula>(formula_of_job, [&](auto formula) {
            visit(
                std::type_identity<typename KernelSet::template LaneDemapper<constellation(), formula()>>());
        });
    });
}

/// The job of a block of a batch: the last job that begins at this block or before.
__device__ __forceinline__ unsigned job_of_block(const Batch& batch) {
    const unsigned part = blockIdx.x >> batch.part_shift;
    unsigned low = batch.job_of_part[part];
    unsigned high = batch.job_of_part[part + 1] + 1U;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (batch.first_block[middle] <= blockIdx.x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/// Sizes of a block.
template <class LaneDemapper, bool counts>
struct Block {
    static constexpr int threads = threads_of_block(LaneDemapper::shape, counts);
    static constexpr int symbols = symbols_of_block(LaneDemapper::shape, counts);
    static constexpr int staging = threads / warp_size * Layout<LaneDemapper>::staging;
};

/// Demaps a block's part of a job, one tile per warp.
template <class LaneDemapper, bool counts, bool flips>
__device__ __forceinline__ void demap_block(const Job& job, unsigned block, const Common& common,
                                            std::byte* staging, Tally& tally) {
    const std::uint64_t first = std::uint64_t{block} * Block<LaneDemapper, counts>::symbols;
    demap_tiles<LaneDemapper, counts, flips>(LaneDemapper(job), job, common, first, staging, tally);
}

template <class LaneDemapper, bool counts, bool flips>
__global__ void __launch_bounds__(Block<LaneDemapper, counts>::threads, LaneDemapper::shape.resident)
    demap_job(const __grid_constant__ Job job, const __grid_constant__ Common common) {
    __shared__ alignas(16) std::byte staging[Block<LaneDemapper, counts>::staging];
    if constexpr (LaneDemapper::is_early) {
        if (gridDim.x <= max_announcing_blocks) let_next_get_ready();
        wait_for_previous();
    }
    Tally tally;
    demap_block<LaneDemapper, counts, flips>(job, blockIdx.x, common, staging, tally);
    if constexpr (counts) add_to_counters(common, tally);
}

/// Sizes of a batch's blocks, equal for all and large enough for every lane demapper of the set.
template <class KernelSet, bool counts>
struct BatchBlock {
    template <Constellation constellation>
    using LaneDemapper =
        typename KernelSet::template LaneDemapper<constellation,
                                                  simplest_formula(constellation, Formula::all_segments)>;
    static constexpr Shape shape = LaneDemapper<phy::detail::all_constellations.back()>::shape;
    static constexpr bool is_early = LaneDemapper<phy::detail::all_constellations.back()>::is_early;
    static constexpr int threads = threads_of_block(shape, counts);
    static constexpr int staging = [] {
        int max = 0;
        for (const Constellation each : phy::detail::all_constellations) {
            with_constellation<KernelSet::min_bits>(each, [&max](auto constellation) {
                static_assert(LaneDemapper<constellation()>::shape.threads == shape.threads);
                static_assert(LaneDemapper<constellation()>::is_early == is_early);
                max = std::max(max, Block<LaneDemapper<constellation()>, counts>::staging);
            });
        }
        return max;
    }();
};

template <class KernelSet, bool counts, bool flips>
__global__ void __launch_bounds__(BatchBlock<KernelSet, counts>::threads,
                                  BatchBlock<KernelSet, counts>::shape.resident)
    demap_batch(const __grid_constant__ Batch batch) {
    __shared__ alignas(16) std::byte staging[BatchBlock<KernelSet, counts>::staging];
    const unsigned index = job_of_block(batch);
    const Job& job = batch.job[index];
    const unsigned block = blockIdx.x - batch.first_block[index];
    if constexpr (BatchBlock<KernelSet, counts>::is_early) {
        let_next_get_ready();
        wait_for_previous();
    }
    Tally tally;
    with_lane_demapper<KernelSet>(job.constellation, job.formula, [&](auto lane_demapper) {
        demap_block<typename decltype(lane_demapper)::type, counts, flips>(job, block, batch.common, staging,
                                                                           tally);
    });
    if constexpr (counts) add_to_counters(batch.common, tally);
}

/// Calls visit(std::bool_constant): whether a launch counts.
template <typename Visitor>
void with_counts(const Common& common, Visitor visit) {
    if (common.counters != nullptr) return visit(std::true_type());
    visit(std::false_type());
}

/// Calls visit(std::bool_constant, std::bool_constant): whether a launch counts, and whether it applies
/// signs. Kernel sets with KernelSet::flips apply signs in launches that do not count.
template <class KernelSet, typename Visitor>
void with_counts_or_flips(const Common& common, bool flips, Visitor visit) {
    if constexpr (KernelSet::flips) {
        if (flips) return visit(std::false_type(), std::true_type());
    }
    with_counts(common, [&](auto counts) { visit(counts, std::false_type()); });
}

template <class KernelSet>
void launch_job(const Job& job, const Common& common, bool flips_signs, cudaStream_t stream) {
    with_lane_demapper<KernelSet>(job.constellation, job.formula, [&](auto lane_demapper) {
        with_counts_or_flips<KernelSet>(common, flips_signs, [&](auto counts, auto flips) {
            using Lane = typename decltype(lane_demapper)::type;
            using B = Block<Lane, counts()>;
            const auto blocks = static_cast<unsigned>((job.count + B::symbols - 1) / B::symbols);
            launch_dependent(demap_job<Lane, counts(), flips()>, Lane::is_early, blocks, B::threads, 0,
                             stream, job, common);
        });
    });
}

template <class KernelSet>
void launch_batch(const Batch& batch, bool flips_signs, cudaStream_t stream) {
    with_counts_or_flips<KernelSet>(batch.common, flips_signs, [&](auto counts, auto flips) {
        using B = BatchBlock<KernelSet, counts()>;
        launch_dependent(demap_batch<KernelSet, counts(), flips()>, B::is_early, batch.blocks, B::threads, 0,
                         stream, batch);
    });
}

template <class KernelSet>
void load_jobs(Constellation constellation) {
    for (const Formula formula : {Formula::one_segment, Formula::two_segments, Formula::all_segments}) {
        with_lane_demapper<KernelSet>(constellation, formula, [](auto lane_demapper) {
            using Lane = typename decltype(lane_demapper)::type;
            load_code(demap_job<Lane, false, false>);
            load_code(demap_job<Lane, true, false>);
            if constexpr (KernelSet::flips) load_code(demap_job<Lane, false, true>);
        });
    }
}

template <class KernelSet>
void load_batch() {
    load_code(demap_batch<KernelSet, false, false>);
    load_code(demap_batch<KernelSet, true, false>);
    if constexpr (KernelSet::flips) load_code(demap_batch<KernelSet, false, true>);
}

/// The functions of an algorithm. OneJob has its own launch() and load() for a format; Set is the kernel set
/// of batches.
template <template <SoftBitFormat> class OneJob, template <SoftBitFormat> class Set>
struct KernelsOf {
    static void launch_one(const Job& job, const Common& common, bool flips, const Device& device,
                           cudaStream_t stream) {
        with_constant(common.format,
                      [&](auto format) { OneJob<format()>::launch(job, common, flips, device, stream); });
    }

    static void launch_many(const Batch& batch, bool flips, cudaStream_t stream) {
        with_constant(batch.common.format,
                      [&](auto format) { launch_batch<Set<format()>>(batch, flips, stream); });
    }

    static Shape shape_in_batch(Constellation constellation, SoftBitFormat of_output) {
        Shape shape{};
        with_constant(of_output, [&](auto format) {
            with_lane_demapper<Set<format()>>(constellation, Formula::all_segments, [&](auto lane_demapper) {
                shape = decltype(lane_demapper)::type::shape;
            });
        });
        return shape;
    }

    static void load_one(Constellation constellation, SoftBitFormat of_output) {
        with_constant(of_output, [&](auto format) { OneJob<format()>::load(constellation); });
    }

    static void load_many(SoftBitFormat of_output) {
        with_constant(of_output, [](auto format) { load_batch<Set<format()>>(); });
    }

    static constexpr AlgorithmKernels all = {launch_one, launch_many, shape_in_batch,
                                             load_one,   load_many,   Set<SoftBitFormat::int8>::flips};
};

}  // namespace phy::gpu::detail
