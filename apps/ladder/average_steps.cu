#include "ladder/average_steps.hpp"

#include <algorithm>

#include <cuda_runtime.h>

#include "phy/cuda/device.hpp"

namespace phy::apps::average_steps {
namespace {

constexpr unsigned block_threads = 512;
constexpr unsigned warp = 32;
constexpr unsigned whole_warp = 0xFFFFFFFFU;

/// The sum of the products of two rows, or the sum of one row.
__device__ double sum_alone(const double* row, const double* other, std::size_t size) {
    double sum = 0.0;
    for (std::size_t i = 0; i < size; ++i)
        sum += other == nullptr ? row[i] : row[i] * other[i];
    return sum;
}

/// The part of one thread in a warp that shares a row; its threads load neighbours.
__device__ double sum_shared(const double* row, const double* other, std::size_t size) {
    double sum = 0.0;
    for (std::size_t i = threadIdx.x % warp; i < size; i += warp)
        sum += other == nullptr ? row[i] : row[i] * other[i];
    return sum;
}

/// Each thread has its own rows; those of neighbouring threads lie far apart.
struct ThreadRows {
    static constexpr unsigned threads_a_row = 1;
    static __device__ double sum(const double* row, const double* other, std::size_t size) {
        return sum_alone(row, other, size);
    }
};

/// A warp shares a row and adds in shared memory. The result is in the warp's first thread.
struct WarpRows {
    static constexpr unsigned threads_a_row = warp;
    static __device__ double sum(const double* row, const double* other, std::size_t size) {
        __shared__ double sums[block_threads];
        const unsigned t = threadIdx.x;
        sums[t] = sum_shared(row, other, size);
        __syncwarp();
        for (unsigned stride = warp / 2; stride > 0; stride /= 2) {
            if (t % warp < stride) sums[t] += sums[t + stride];
            __syncwarp();
        }
        return sums[t];
    }
};

/// The same with shuffles between registers.
struct ShuffledRows {
    static constexpr unsigned threads_a_row = warp;
    static __device__ double sum(const double* row, const double* other, std::size_t size) {
        double sum = sum_shared(row, other, size);
#pragma unroll
        for (unsigned stride = warp / 2; stride > 0; stride /= 2)
            sum += __shfl_down_sync(whole_warp, sum, stride);
        return sum;
    }
};

/// One block per batch; fewer blocks loop.
template <class Rows>
__global__ void average(const Work work) {
    extern __shared__ double means[];
    constexpr unsigned together = block_threads / Rows::threads_a_row;
    const unsigned first = threadIdx.x / Rows::threads_a_row;
    const bool writes = threadIdx.x % Rows::threads_a_row == 0;
    for (std::size_t n = blockIdx.x; n < work.batches; n += gridDim.x) {
        for (std::size_t k = first; k < work.length; k += together) {
            const double* const row = work.in + (n * work.length + k) * work.observations;
            const double sum = Rows::sum(row, nullptr, work.observations);
            if (writes) means[k] = sum / static_cast<double>(work.observations);
        }
        __syncthreads();
        for (std::size_t l = first; l < work.length; l += together) {
            const double sum = Rows::sum(work.matrix + l * work.length, means, work.length);
            if (writes) work.out[n * work.length + l] = sum;
        }
        __syncthreads();
    }
}

template <class Rows>
void launch_blocks(std::size_t blocks, const Work& work, cudaStream_t stream) {
    average<Rows>
        <<<static_cast<unsigned>(blocks), block_threads, work.length * sizeof(double), stream>>>(work);
    gpu::check(cudaGetLastError());
}

void launch_one_block(const Work& work, cudaStream_t stream) {
    launch_blocks<ThreadRows>(1, work, stream);
}

template <class Rows>
void launch_all_blocks(const Work& work, cudaStream_t stream) {
    constexpr std::size_t most = 0x7FFFFFFF;
    launch_blocks<Rows>(std::min(work.batches, most), work, stream);
}

}  // namespace

std::vector<Step> all() {
    constexpr int threads = block_threads;
    return {{"one block", "one thread per row, one batch after another", threads, launch_one_block},
            {"N blocks", "one block per batch", threads, launch_all_blocks<ThreadRows>},
            {"coalesced", "one warp per row: its threads load neighbours and add in shared memory", threads,
             launch_all_blocks<WarpRows>},
            {"shuffle", "the threads of a warp add from each other's registers", threads,
             launch_all_blocks<ShuffledRows>}};
}

}  // namespace phy::apps::average_steps
