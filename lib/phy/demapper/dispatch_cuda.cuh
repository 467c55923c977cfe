#pragma once

#include <algorithm>
#include <type_traits>

#include "phy/demapper/tile_cuda.cuh"

/// From values known at run time to kernels, and from blocks of a batch to its jobs.
namespace phy::gpu::detail {

template <SoftBitFormat format>
using FormatConstant = std::integral_constant<SoftBitFormat, format>;
template <Grid grid>
using GridConstant = std::integral_constant<Grid, grid>;

/// Calls visit(FormatConstant).
template <typename Visitor>
void with_format(SoftBitFormat format, Visitor visit) {
    switch (format) {
        case SoftBitFormat::int8:
            return visit(FormatConstant<SoftBitFormat::int8>());
        case SoftBitFormat::float16:
            return visit(FormatConstant<SoftBitFormat::float16>());
        case SoftBitFormat::float32:
            return visit(FormatConstant<SoftBitFormat::float32>());
    }
}

/// Calls visit(GridConstant) for grids with at least `fewest` bits an axis. By the bits of the number: a
/// switch becomes a table of addresses that kernels fetch before they jump.
template <int fewest, typename Visitor>
__host__ __device__ __forceinline__ constexpr void with_grid(Grid grid, Visitor visit) {
    static_assert(static_cast<int>(Grid::qpsk) == 1 && static_cast<int>(Grid::qam16) == 2 &&
                  static_cast<int>(Grid::qam64) == 3 && static_cast<int>(Grid::qam256) == 4 &&
                  static_cast<int>(Grid::qam1024) == 5);
    const auto number = static_cast<unsigned>(grid);
    const bool odd = (number & 1U) != 0;
    if ((number & 4U) != 0) {
        if (odd) return visit(GridConstant<Grid::qam1024>());
        return visit(GridConstant<Grid::qam256>());
    }
    if ((number & 2U) != 0) {
        if (odd) return visit(GridConstant<Grid::qam64>());
        return visit(GridConstant<Grid::qam16>());
    }
    if constexpr (fewest <= 1) {
        if (odd) return visit(GridConstant<Grid::qpsk>());
        visit(GridConstant<Grid::bpsk>());
    }
}

template <Law law>
using LawConstant = std::integral_constant<Law, law>;

/// Calls visit(LawConstant) with the grid's law; where the family has kernels for each, with this one.
template <Grid grid, bool by_law, typename Visitor>
__host__ __device__ __forceinline__ constexpr void with_law(Law law, Visitor visit) {
    constexpr Law most = closest_law(grid, Law::all_segments);
    if constexpr (by_law && most != Law::one_segment) {
        if (law == Law::one_segment) return visit(LawConstant<Law::one_segment>());
    }
    if constexpr (by_law && most == Law::all_segments) {
        if (law == Law::two_segments) return visit(LawConstant<Law::two_segments>());
    }
    visit(LawConstant<most>());
}

/// Calls visit(std::type_identity) of the evaluator that a family has for a grid and a law. A family is one
/// of evaluators by grid, from grids with Family::fewest_bits an axis on, and with Family::by_law by law, for
/// one format.
template <class Family, typename Visitor>
__host__ __device__ __forceinline__ constexpr void with_evaluator(Grid grid_of_job, Law law_of_job,
                                                                  Visitor visit) {
    with_grid<Family::fewest_bits>(grid_of_job, [&](auto grid) {
        with_law<grid(), Family::by_law>(law_of_job, [&](auto law) {
            visit(std::type_identity<typename Family::template Evaluator<grid(), law()>>());
        });
    });
}

/// The job that a block of a batch belongs to: the last that begins at the block or before it.
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

/// What a block is made of.
template <class Evaluator, bool counts>
struct Block {
    static constexpr int threads = threads_of_block(Evaluator::shape, counts);
    static constexpr int symbols = symbols_of_block(Evaluator::shape, counts);
    static constexpr int staging = threads / warp_size * Layout<Evaluator>::staging;
};

/// The part of a job that a block does with one tile a warp.
template <class Evaluator, bool counts>
__device__ __forceinline__ void demap_block(const Job& job, unsigned block, const Common& common,
                                            std::byte* staging, Tally& tally) {
    const std::uint64_t first = std::uint64_t{block} * Block<Evaluator, counts>::symbols;
    demap_tiles<Evaluator, counts>(Evaluator(job), job, common, first, staging, tally);
}

template <class Evaluator, bool counts>
__global__ void __launch_bounds__(Block<Evaluator, counts>::threads, Evaluator::shape.resident)
    demap_job(const __grid_constant__ Job job, const __grid_constant__ Common common) {
    __shared__ alignas(16) std::byte staging[Block<Evaluator, counts>::staging];
    Tally tally;
    demap_block<Evaluator, counts>(job, blockIdx.x, common, staging, tally);
    if constexpr (counts) add_to_counters(common, tally);
}

/// Blocks of a family's batch: all have one size, and room for every evaluator.
template <class Family, bool counts>
struct BatchBlock {
    template <Grid grid>
    using Evaluator = typename Family::template Evaluator<grid, closest_law(grid, Law::all_segments)>;
    static constexpr Shape shape = Evaluator<Grid::qam1024>::shape;
    static constexpr int threads = threads_of_block(shape, counts);
    static constexpr int staging = [] {
        int most = 0;
        for (const Grid each :
             {Grid::bpsk, Grid::qpsk, Grid::qam16, Grid::qam64, Grid::qam256, Grid::qam1024}) {
            with_grid<Family::fewest_bits>(each, [&most](auto grid) {
                static_assert(Evaluator<grid()>::shape.threads == shape.threads);
                most = std::max(most, Block<Evaluator<grid()>, counts>::staging);
            });
        }
        return most;
    }();
};

template <class Family, bool counts>
__global__ void __launch_bounds__(BatchBlock<Family, counts>::threads,
                                  BatchBlock<Family, counts>::shape.resident)
    demap_batch(const __grid_constant__ Batch batch) {
    __shared__ alignas(16) std::byte staging[BatchBlock<Family, counts>::staging];
    const unsigned index = job_of_block(batch);
    const Job& job = batch.job[index];
    const unsigned block = blockIdx.x - batch.first_block[index];
    Tally tally;
    with_evaluator<Family>(job.grid, job.law, [&](auto evaluator) {
        demap_block<typename decltype(evaluator)::type, counts>(job, block, batch.common, staging, tally);
    });
    if constexpr (counts) add_to_counters(batch.common, tally);
}

/// Calls visit(std::bool_constant): whether a launch counts.
template <typename Visitor>
void with_counts(const Common& common, Visitor visit) {
    if (common.counters != nullptr) return visit(std::true_type());
    visit(std::false_type());
}

template <class Family>
void launch_job(const Job& job, const Common& common, cudaStream_t stream) {
    with_evaluator<Family>(job.grid, job.law, [&](auto evaluator) {
        with_counts(common, [&](auto counts) {
            using Evaluator = typename decltype(evaluator)::type;
            using B = Block<Evaluator, counts()>;
            const auto blocks = static_cast<unsigned>((job.count + B::symbols - 1) / B::symbols);
            demap_job<Evaluator, counts()><<<blocks, B::threads, 0, stream>>>(job, common);
        });
    });
}

template <class Family>
void launch_batch(const Batch& batch, cudaStream_t stream) {
    with_counts(batch.common, [&](auto counts) {
        constexpr int threads = BatchBlock<Family, counts()>::threads;
        demap_batch<Family, counts()><<<batch.blocks, threads, 0, stream>>>(batch);
    });
}

/// Has the driver load a kernel's code, which otherwise happens when it is first launched.
template <typename Kernel>
void load(Kernel kernel) {
    cudaFuncAttributes attributes{};
    check(cudaFuncGetAttributes(&attributes, kernel));
}

template <class Family>
void load_job(Grid grid) {
    for (const Law law : {Law::one_segment, Law::two_segments, Law::all_segments}) {
        with_evaluator<Family>(grid, law, [](auto evaluator) {
            using Evaluator = typename decltype(evaluator)::type;
            load(demap_job<Evaluator, false>);
            load(demap_job<Evaluator, true>);
        });
    }
}

template <class Family>
void load_batch() {
    load(demap_batch<Family, false>);
    load(demap_batch<Family, true>);
}

}  // namespace phy::gpu::detail
