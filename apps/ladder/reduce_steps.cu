#include "ladder/reduce_steps.hpp"

#include <algorithm>

#include <cuda_runtime.h>

#include "phy/cuda/device.hpp"

namespace phy::apps::reduce_steps {
namespace {

constexpr unsigned block_threads = 256;
constexpr unsigned warp = 32;
constexpr unsigned whole_warp = 0xFFFFFFFFU;

static_assert((block_threads & (block_threads - 1)) == 0 && block_threads >= 2 * warp &&
                  block_threads <= 1024,
              "the steps halve a block down to one warp");

/// Makes one sum per block, and writes it to the block's index of out.
using Kernel = void (*)(const std::int32_t* in, std::size_t size, std::int32_t* out);

/// One per thread of the block.
__device__ std::int32_t* shared_sums() {
    extern __shared__ std::int32_t sums[];
    return sums;
}

__device__ std::int32_t element_or_zero(const std::int32_t* in, std::size_t size, std::size_t i) {
    return i < size ? in[i] : 0;
}

__device__ std::int32_t one_element(const std::int32_t* in, std::size_t size) {
    return element_or_zero(in, size, std::size_t{blockIdx.x} * blockDim.x + threadIdx.x);
}

__device__ std::int32_t two_elements(const std::int32_t* in, std::size_t size) {
    const std::size_t i = std::size_t{blockIdx.x} * 2 * blockDim.x + threadIdx.x;
    return element_or_zero(in, size, i) + element_or_zero(in, size, i + blockDim.x);
}

__global__ void modulo(const std::int32_t* in, std::size_t size, std::int32_t* out) {
    std::int32_t* const sums = shared_sums();
    const unsigned t = threadIdx.x;
    sums[t] = one_element(in, size);
    __syncthreads();
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (t % (2 * stride) == 0) sums[t] += sums[t + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

__global__ void strided(const std::int32_t* in, std::size_t size, std::int32_t* out) {
    std::int32_t* const sums = shared_sums();
    const unsigned t = threadIdx.x;
    sums[t] = one_element(in, size);
    __syncthreads();
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned i = 2 * stride * t;
        if (i < blockDim.x) sums[i] += sums[i + stride];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = sums[0];
}

/// Adds the back half of the block's sums to the front half repeatedly until `left` remain.
__device__ void halve(std::int32_t* sums, unsigned left) {
    const unsigned t = threadIdx.x;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride >= left; stride /= 2) {
        if (t < stride) sums[t] += sums[t + stride];
        __syncthreads();
    }
}

__global__ void sequential(const std::int32_t* in, std::size_t size, std::int32_t* out) {
    std::int32_t* const sums = shared_sums();
    sums[threadIdx.x] = one_element(in, size);
    halve(sums, 1);
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

__global__ void first_add(const std::int32_t* in, std::size_t size, std::int32_t* out) {
    std::int32_t* const sums = shared_sums();
    sums[threadIdx.x] = two_elements(in, size);
    halve(sums, 1);
    if (threadIdx.x == 0) out[blockIdx.x] = sums[0];
}

/// For the first warp: the sum of 64 sums, in the first thread. The threads of a warp do not run in step, so
/// they synchronise between the reads and writes of a step, and between steps.
__device__ std::int32_t sum_by_warp(std::int32_t* sums) {
    const unsigned t = threadIdx.x;
    std::int32_t mine = sums[t];
#pragma unroll
    for (unsigned stride = warp; stride > 0; stride /= 2) {
        mine += sums[t + stride];
        __syncwarp();
        sums[t] = mine;
        __syncwarp();
    }
    return mine;
}

__global__ void last_warp(const std::int32_t* in, std::size_t size, std::int32_t* out) {
    std::int32_t* const sums = shared_sums();
    sums[threadIdx.x] = two_elements(in, size);
    halve(sums, 2 * warp);
    if (threadIdx.x >= warp) return;
    const std::int32_t sum = sum_by_warp(sums);
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

/// Writes the sum over the block.
template <unsigned threads>
__device__ void sum_unrolled(std::int32_t mine, std::int32_t* out) {
    std::int32_t* const sums = shared_sums();
    const unsigned t = threadIdx.x;
    sums[t] = mine;
    __syncthreads();
#pragma unroll
    for (unsigned stride = threads / 2; stride > warp; stride /= 2) {
        if (t < stride) sums[t] += sums[t + stride];
        __syncthreads();
    }
    if (t >= warp) return;
    const std::int32_t sum = sum_by_warp(sums);
    if (t == 0) out[blockIdx.x] = sum;
}

template <unsigned threads>
__global__ void unrolled(const std::int32_t* in, std::size_t size, std::int32_t* out) {
    sum_unrolled<threads>(two_elements(in, size), out);
}

/// The part of one thread if blocks loop over all elements.
template <unsigned threads>
__device__ std::int32_t many_elements(const std::int32_t* in, std::size_t size) {
    const std::size_t stride = std::size_t{gridDim.x} * 2 * threads;
    std::size_t i = std::size_t{blockIdx.x} * 2 * threads + threadIdx.x;
    std::int32_t sum = 0;
    for (; i + threads < size; i += stride)
        sum += in[i] + in[i + threads];
    if (i < size) sum += in[i];
    return sum;
}

template <unsigned threads>
__global__ void many_adds(const std::int32_t* in, std::size_t size, std::int32_t* out) {
    sum_unrolled<threads>(many_elements<threads>(in, size), out);
}

/// The sum over the first `threads` threads of the warp, in its first thread. The whole warp takes part.
template <unsigned threads>
__device__ std::int32_t sum_by_shuffle(std::int32_t mine) {
#pragma unroll
    for (unsigned stride = threads / 2; stride > 0; stride /= 2)
        mine += __shfl_down_sync(whole_warp, mine, stride);
    return mine;
}

template <unsigned threads>
__global__ void shuffle(const std::int32_t* in, std::size_t size, std::int32_t* out) {
    constexpr unsigned warps = threads / warp;
    std::int32_t* const sums = shared_sums();
    const unsigned t = threadIdx.x;
    const std::int32_t of_warp = sum_by_shuffle<warp>(many_elements<threads>(in, size));
    if (t % warp == 0) sums[t / warp] = of_warp;
    __syncthreads();
    if (t >= warp) return;
    const std::int32_t of_block = sum_by_shuffle<warps>(t < warps ? sums[t] : 0);
    if (t == 0) out[blockIdx.x] = of_block;
}

std::size_t blocks_of(std::size_t size, std::size_t elements_a_block) {
    return (size + elements_a_block - 1) / elements_a_block;
}

/// Sums the elements, then the blocks' sums, and so on until one is left. blocks_for(size) is below size, or
/// 1.
template <typename BlocksFor>
void launch_until_one(Kernel kernel, const Work& work, const BlocksFor& blocks_for, cudaStream_t stream) {
    constexpr std::size_t shared_bytes = block_threads * sizeof(std::int32_t);
    const std::int32_t* from = work.elements;
    std::size_t left = work.size;
    for (unsigned turn = 0;; ++turn) {
        const std::size_t blocks = blocks_for(left);
        std::int32_t* const to = blocks == 1 ? work.sum : work.partial_sums[turn % 2];
        kernel<<<static_cast<unsigned>(blocks), block_threads, shared_bytes, stream>>>(from, left, to);
        gpu::check(cudaGetLastError());
        if (blocks == 1) return;
        from = to;
        left = blocks;
    }
}

template <Kernel kernel, unsigned elements_a_thread>
void launch_blocks_for_all(const Work& work, int /*multiprocessors*/, cudaStream_t stream) {
    const auto blocks_for = [](std::size_t size) {
        return blocks_of(size, std::size_t{block_threads} * elements_a_thread);
    };
    launch_until_one(kernel, work, blocks_for, stream);
}

/// Limited so that each thread has several elements and the second launch has one block.
template <Kernel kernel>
void launch_as_many_as_fit(const Work& work, int multiprocessors, cudaStream_t stream) {
    constexpr std::size_t min_a_block = std::size_t{block_threads} * 16;
    int fitting = 0;
    gpu::check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fitting, kernel, block_threads,
                                                             block_threads * sizeof(std::int32_t)));
    const std::size_t most = static_cast<std::size_t>(fitting) * static_cast<std::size_t>(multiprocessors);
    const auto blocks_for = [most](std::size_t size) { return std::min(most, blocks_of(size, min_a_block)); };
    launch_until_one(kernel, work, blocks_for, stream);
}

}  // namespace

std::size_t max_partial_sums(std::size_t size) {
    return blocks_of(size, block_threads);
}

std::vector<Step> all() {
    constexpr int threads = block_threads;
    return {{"modulo", "every 2nd, 4th ... thread adds its neighbour: warps diverge", threads,
             launch_blocks_for_all<modulo, 1>},
            {"strided", "the first threads add, at strides: banks of shared memory conflict", threads,
             launch_blocks_for_all<strided, 1>},
            {"sequential", "the back half is added to the front half", threads,
             launch_blocks_for_all<sequential, 1>},
            {"first add", "a thread adds two elements as it loads them", threads,
             launch_blocks_for_all<first_add, 2>},
            {"last warp", "the last 64 sums by one warp, without barriers of the block", threads,
             launch_blocks_for_all<last_warp, 2>},
            {"unrolled", "all steps, for a block size that the compiler knows", threads,
             launch_blocks_for_all<unrolled<block_threads>, 2>},
            {"many adds", "as many blocks as fit, which loop over the elements", threads,
             launch_as_many_as_fit<many_adds<block_threads>>},
            {"shuffle", "the threads of a warp add from each other's registers", threads,
             launch_as_many_as_fit<shuffle<block_threads>>}};
}

}  // namespace phy::apps::reduce_steps
