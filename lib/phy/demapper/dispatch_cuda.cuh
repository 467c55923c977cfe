#pragma once

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

/// Calls visit(GridConstant) for grids with at least `fewest` bits an axis.
template <int fewest, typename Visitor>
__host__ __device__ __forceinline__ void with_grid(Grid grid, Visitor visit) {
    switch (grid) {
        case Grid::bpsk:
            if constexpr (fewest <= 1) visit(GridConstant<Grid::bpsk>());
            return;
        case Grid::qpsk:
            if constexpr (fewest <= 1) visit(GridConstant<Grid::qpsk>());
            return;
        case Grid::qam16:
            return visit(GridConstant<Grid::qam16>());
        case Grid::qam64:
            return visit(GridConstant<Grid::qam64>());
        case Grid::qam256:
            return visit(GridConstant<Grid::qam256>());
        case Grid::qam1024:
            return visit(GridConstant<Grid::qam1024>());
    }
}

/// The job that a block of a batch belongs to: the last that begins at the block or before it.
__device__ __forceinline__ const Job& job_of_block(const Batch& batch) {
    unsigned low = 0;
    unsigned high = batch.jobs;
    while (high - low > 1) {
        const unsigned middle = (low + high) / 2;
        if (batch.job[middle].first_block <= blockIdx.x) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return batch.job[low];
}

/// Shared memory for the tiles of a block.
template <class Evaluator>
constexpr int staging_of_block = Evaluator::shape.threads / warp_size* Layout<Evaluator>::staging;

/// The part of a job that a block does with one tile a warp.
template <class Evaluator>
__device__ __forceinline__ void demap_block(const Evaluator& evaluate, const Job& job, const Common& common,
                                            std::byte* staging, Tally& tally) {
    constexpr unsigned warps = Evaluator::shape.threads / warp_size;
    const unsigned warp = threadIdx.x / warp_size;
    const std::uint64_t tile = std::uint64_t{blockIdx.x - job.first_block} * warps + warp;
    demap_tile(evaluate, job, common, tile, staging + warp * Layout<Evaluator>::staging, tally);
}

template <class Evaluator>
__global__ void __launch_bounds__(Evaluator::shape.threads, Evaluator::shape.resident)
    demap_job(const __grid_constant__ Job job, const __grid_constant__ Common common) {
    __shared__ alignas(16) std::byte staging[staging_of_block<Evaluator>];
    Tally tally;
    demap_block(Evaluator(job), job, common, staging, tally);
    add_to_counters(common, tally);
}

/// A family of evaluators by grid, from grids with Family::fewest_bits an axis on, for one format. In a batch
/// all have blocks of one size, and 1024QAM needs the most shared memory.
template <class Family>
constexpr Shape batch_shape = Family::template Evaluator<Grid::qam1024>::shape;

template <class Family>
__global__ void __launch_bounds__(batch_shape<Family>.threads, batch_shape<Family>.resident)
    demap_batch(const __grid_constant__ Batch batch) {
    constexpr int size = staging_of_block<typename Family::template Evaluator<Grid::qam1024>>;
    __shared__ alignas(16) std::byte staging[size];
    const Job& job = job_of_block(batch);
    Tally tally;
    with_grid<Family::fewest_bits>(job.grid, [&](auto grid) {
        using Evaluator = typename Family::template Evaluator<grid()>;
        static_assert(staging_of_block<Evaluator> <= size);
        static_assert(Evaluator::shape.threads == batch_shape<Family>.threads);
        demap_block(Evaluator(job), job, batch.common, staging, tally);
    });
    add_to_counters(batch.common, tally);
}

template <class Family>
void launch_job(const Job& job, const Common& common, cudaStream_t stream) {
    with_grid<Family::fewest_bits>(job.grid, [&](auto grid) {
        using Evaluator = typename Family::template Evaluator<grid()>;
        constexpr std::uint64_t of_block = symbols_of_block(Evaluator::shape);
        const auto blocks = static_cast<unsigned>((job.count + of_block - 1) / of_block);
        demap_job<Evaluator><<<blocks, Evaluator::shape.threads, 0, stream>>>(job, common);
    });
}

template <class Family>
void launch_batch(const Batch& batch, cudaStream_t stream) {
    demap_batch<Family><<<batch.blocks, batch_shape<Family>.threads, 0, stream>>>(batch);
}

}  // namespace phy::gpu::detail
