#pragma once

#include <cstring>

/// Steps 3 and 4 of the tree in the registers of a warp; each thread has a node.
namespace phy::gpu::detail {

inline constexpr unsigned row_warp = 32;
inline constexpr unsigned whole_warp = 0xFFFFFFFF;

/// The node of the thread `distance` further on.
template <class Node>
__device__ __forceinline__ Node shifted(const Node& node, unsigned distance) {
    constexpr unsigned words = (sizeof(Node) + 3) / 4;
    unsigned word[words] = {};
    memcpy(word, &node, sizeof(Node));
#pragma unroll
    for (unsigned i = 0; i < words; ++i)
        word[i] = __shfl_down_sync(whole_warp, word[i], distance);
    Node other = node;
    memcpy(&other, word, sizeof(Node));
    return other;
}

/// Step 3: thread t joins thread t + 16, then t + 8, down to 1. The root is in thread 0.
template <class Op, class Node>
__device__ __forceinline__ Node join_warp(const Op& op, Node node) {
#pragma unroll
    for (unsigned distance = row_warp / 2; distance > 0; distance /= 2)
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
    for (unsigned distance = 1; distance < row_warp; distance *= 2) {
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
        sums[k] = __fadd_rn(kept, __shfl_xor_sync(whole_warp, sent, distance));
    }
}

/// The sum, in all threads.
__device__ __forceinline__ unsigned sum_of_warp(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(whole_warp, value);
#else
    for (unsigned distance = row_warp / 2; distance > 0; distance /= 2)
        value += __shfl_xor_sync(whole_warp, value, distance);
    return value;
#endif
}

/// The largest value, in all threads.
__device__ __forceinline__ unsigned largest_of_warp(unsigned value) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(whole_warp, value);
#else
    for (unsigned distance = row_warp / 2; distance > 0; distance /= 2)
        value = max(value, __shfl_xor_sync(whole_warp, value, distance));
    return value;
#endif
}

}  // namespace phy::gpu::detail
