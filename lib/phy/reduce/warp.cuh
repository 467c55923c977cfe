#pragma once

#include <cstring>

#include "phy/cuda/warp.hpp"

/// Steps 3 and 4 of the tree in the registers of a warp; each thread has a node.
namespace phy::gpu::detail {

/// The node of the thread `distance` further on.
template <class Node>
__device__ __forceinline__ Node shifted(const Node& node, unsigned distance) {
    constexpr unsigned words = (sizeof(Node) + 3) / 4;
    unsigned word[words] = {};
    memcpy(word, &node, sizeof(Node));
#pragma unroll
    for (unsigned i = 0; i < words; ++i)
        word[i] = __shfl_down_sync(all_lanes, word[i], distance);
    Node other = node;
    memcpy(&other, word, sizeof(Node));
    return other;
}

/// Step 3: thread t joins thread t + 16, then t + 8, down to 1. The root is in thread 0.
template <class Op, class Node>
__device__ __forceinline__ Node join_warp(const Op& op, Node node) {
#pragma unroll
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2)
        node = op.join(node, shifted(node, distance));
    return node;
}

/// The sum by step 3, in thread 0.
__device__ __forceinline__ float joined_warp(float value) {
    struct Add {
        __device__ __forceinline__ static float join(float left, float right) {
            return __fadd_rn(left, right);
        }
    };
    return join_warp(Add(), value);
}

/// Step 4 for count neighbours, of which every thread has joined its own `each`. A node without a right
/// neighbour moves up unchanged. The root is in thread 0.
template <unsigned each, class Op, class Node>
__device__ __forceinline__ Node join_neighbours(const Op& op, Node node, unsigned count, unsigned thread) {
#pragma unroll
    for (unsigned distance = 1; distance < warp_size; distance *= 2) {
        const Node right = shifted(node, distance);
        if (each * (thread + distance) < count) node = op.join(node, right);
    }
    return node;
}

/// One level of step 3 for `count` sums at once: thread t adds thread t + distance. Half of the threads
/// continue with the first half of the sums, the others with the rest.
template <unsigned count>
__device__ __forceinline__ void halve(float* sums, unsigned distance, unsigned thread) {
    const bool upper = (thread & distance) != 0;
#pragma unroll
    for (unsigned k = 0; k < count / 2; ++k) {
        const float sent = upper ? sums[k] : sums[k + count / 2];
        const float kept = upper ? sums[k + count / 2] : sums[k];
        sums[k] = __fadd_rn(kept, __shfl_xor_sync(all_lanes, sent, distance));
    }
}

/// The sum, in all threads.
__device__ __forceinline__ unsigned sum_of_warp(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(all_lanes, value);
#else
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(all_lanes, value, distance);
    return value;
#endif
}

/// The largest value, in all threads.
__device__ __forceinline__ unsigned largest_of_warp(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(all_lanes, value);
#else
    for (unsigned distance = warp_size / 2; distance > 0; distance /= 2)
        value = max(value, __shfl_xor_sync(all_lanes, value, distance));
    return value;
#endif
}

}  // namespace phy::gpu::detail
