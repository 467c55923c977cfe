#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "phy/cuda/stream.hpp"

namespace phy::apps {

/// Input and output of a copy kernel: device memory, both at multiples of 16 bytes.
struct Move {
    const void* from = nullptr;
    std::size_t bytes_in = 0;
    void* to = nullptr;
    std::size_t bytes_out = 0;
};

/// A kernel that reads all of move.from and writes all of move.to in coalesced pieces of 16 bytes, and does
/// nothing else. Its speed is the limit of every kernel that moves these bytes. Without input it only writes.
/// It may skip up to 15 bytes at each end.
using CopyKernel = std::function<void(const Move& move, cudaStream_t stream)>;

/// Copy kernels with different threads per block and pieces per thread; the fastest depends on device and
/// size. Throws ArgumentError if no kernel has the move's ratio of bytes.
std::vector<CopyKernel> copy_kernels(const Move& move);

}  // namespace phy::apps
