#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "phy/cuda/stream.hpp"

namespace phy::apps {

/// What a kernel reads and what it writes, both in device memory and at multiples of 16 bytes.
struct Move {
    const void* from = nullptr;
    std::size_t bytes_in = 0;
    void* to = nullptr;
    std::size_t bytes_out = 0;
};

/// A kernel that reads all of move.from and writes all of move.to, in coalesced pieces of 16 bytes, and does
/// nothing else: the limit of every kernel that moves these bytes. With no bytes in, it only writes. Up to 15
/// bytes at an end are left out.
using CopyKernel = std::function<void(const Move& move, cudaStream_t stream)>;

/// Copy kernels that differ in threads a block and pieces a thread; which is the fastest depends on the
/// device and the size. Throws ArgumentError if there is none for the move's ratio of bytes.
std::vector<CopyKernel> copy_kernels(const Move& move);

}  // namespace phy::apps
