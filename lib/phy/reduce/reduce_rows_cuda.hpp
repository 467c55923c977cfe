#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "phy/core/export.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/reduce/reduce_built_in.hpp"
#include "phy/reduce/reduce_layout.hpp"
#include "phy/reduce/reduce_rows.hpp"

namespace phy::gpu {

namespace detail {

/// How a reduction is spread over a device. None of it is seen in a result.
struct RowTuning {
    unsigned threads;       ///< a block of the GPU that reduces units: whole warps, at most max_row_threads
    unsigned join_threads;  ///< a block of the GPU that joins roots: 32 to max_row_threads, a power of two
    unsigned level;         ///< a warp takes units of 2^level blocks of the tree, level at most max_row_level
    bool wide;              ///< a thread loads neighbouring elements at once, where the rows are aligned
    std::uint64_t max_blocks;  ///< of the GPU in a launch; with more to do, they loop
};
inline constexpr unsigned max_row_level = 4;

/// What suits a device with so many multiprocessors.
PHY_EXPORT RowTuning row_tuning(std::uint64_t rows, std::uint64_t length, int multiprocessors);

/// A call whose arguments are checked.
struct RowCall {
    const void* in;
    void* out;
    void* nodes;
    std::uint64_t rows;
    std::uint64_t length;
    const void* op;
    RowTuning tuning;
};

/// Starts the kernels of the operator with that index in BuiltInReductions on the current device.
PHY_EXPORT void start_built_in(std::size_t index, const RowCall& call, cudaStream_t stream);

using RowStart = void (*)(const RowCall& call, cudaStream_t stream);
template <class List>
using RowStarts = std::array<RowStart, List::size>;

/// Those of a list of built-in operators, which a file for each list compiles.
template <class List>
RowStarts<List> row_starts();

/// Starts those of an operator: defined in phy/reduce/reduce_rows_cuda.cuh, which is to be included for all
/// but the library's own.
template <class Op>
struct RowKernels;

template <class Op>
void start(const RowCall& call, cudaStream_t stream) {
    if constexpr (phy::detail::is_built_in<Op>) {
        start_built_in(phy::detail::BuiltInReductions::index_of<Op>, call, stream);
    } else {
        RowKernels<Op>::start(call, stream);
    }
}

/// As gpu::reduce_rows(), for tests and benchmarks that tune it. No tuning means the best that is known.
template <class Op>
void reduce_rows_tuned(const Device& device, DeviceSpan<const typename Op::Element> in, std::size_t rows,
                       DeviceSpan<typename Op::Result> out, DeviceSpan<std::byte> workspace,
                       cudaStream_t stream, const Op& op, const RowTuning* tuning) {
    phy::detail::check_operator<Op>();
    const std::size_t length = phy::detail::checked_length(in.size(), rows, out.size());
    const std::size_t bytes = reduce_rows_workspace<Op>(rows, length);
    auto* const nodes =
        phy::detail::checked_nodes<typename Op::Node>(workspace.data(), workspace.size(), bytes);
    if (rows == 0) return;
    const CurrentDevice current(device);
    start<Op>({.in = in.data(),
               .out = out.data(),
               .nodes = nodes,
               .rows = rows,
               .length = length,
               .op = &op,
               .tuning = tuning != nullptr ? *tuning : row_tuning(rows, length, device.multiprocessors())},
              stream);
}

}  // namespace detail

using phy::reduce_rows_workspace;

/// Reduces each row of a batch in device memory and writes one result a row. The bytes are those of
/// phy::reduce_rows(), which also says what the sizes are and which of them are errors.
///
/// A call only starts kernels on the stream, which belongs to the device: it returns at once, allocates
/// nothing, does not wait, and can be captured in a graph. All arrays are in memory that the device can
/// reach, do not overlap, and stay there until the work is done; calls that run at the same time need a
/// workspace each. Any alignment will do; it is fastest where every row lies at a multiple of 16 bytes.
///
/// The library has Sum, Mean, Minimum, Maximum and ArgMax of integers of 8 to 64 bits, float and double, sums
/// and means of complex numbers of these two, and their sums in double. For other operators, include
/// phy/reduce/reduce_rows_cuda.cuh in a file that nvcc compiles.
template <class Op>
void reduce_rows(const Device& device, DeviceSpan<const typename Op::Element> in, std::size_t rows,
                 DeviceSpan<typename Op::Result> out, DeviceSpan<std::byte> workspace, cudaStream_t stream,
                 const Op& op = {}) {
    detail::reduce_rows_tuned<Op>(device, in, rows, out, workspace, stream, op, nullptr);
}

}  // namespace phy::gpu
