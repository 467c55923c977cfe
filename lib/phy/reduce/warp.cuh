#pragma once

#include <cstring>

/// The threads of a warp, each of which has a node: steps 3 and 4 of the tree by their registers alone.
namespace phy::gpu::detail {

inline constexpr unsigned row_warp = 32;
inline constexpr unsigned whole_warp = 0xFFFFFFFF;

/// The node that the thread `distance` further on has.
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

/// Step 3: thread t takes thread t + 16, then t + 8, down to 1. The root, in thread 0.
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

/// Step 4 for count neighbours, of which every thread has joined its own `each`; the root, in thread 0. What
/// has no right neighbour goes up as it is.
template <unsigned each, class Op, class Node>
__device__ __forceinline__ Node join_neighbours(const Op& op, Node node, unsigned count, unsigned thread) {
#pragma unroll
    for (unsigned distance = 1; distance < row_warp; distance *= 2) {
        const Node right = shifted(node, distance);
        if (each * (thread + distance) < count) node = op.join(node, right);
    }
    return node;
}

/// Step 3 for `count` sums at once: thread t takes thread t + distance; half of the threads go on with the
/// first half of the sums, half with the rest.
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

/// The largest, in all threads.
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
