#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/machine/host.hpp"
#include "phy/reduce/reduce_built_in.hpp"
#include "phy/reduce/reduce_layout.hpp"
#include "phy/reduce/reduce_operators.hpp"
#include "phy/reduce/rows.hpp"

namespace phy {

/// Bytes of workspace that reduce_rows() needs, on the host and on a device: 0 for rows of up to 4096
/// elements, otherwise about one node per 4096 elements.
template <class Op>
constexpr std::size_t reduce_rows_workspace_bytes(std::size_t rows, std::size_t length) {
    const std::uint64_t nodes = detail::nodes_of_workspace({rows, length, length, row_tree.block});
    return nodes == 0 ? 0 : nodes * sizeof(typename Op::Node) + alignof(typename Op::Node) - 1;
}

/// Reduces each row of a batch with an operator, such as Sum<float>, and writes one result per row:
///
///     std::vector<float> sums(rows);
///     std::vector<std::byte> workspace(phy::reduce_rows_workspace_bytes<phy::Sum<float>>(rows, length));
///     phy::reduce_rows<phy::Sum<float>>(host, samples, rows, sums, workspace);
///
/// in holds the rows one after another, each with in.size() / rows elements; rows may be empty. Arrays must
/// not overlap. The workspace needs no alignment and its content does not matter. Elements are joined in the
/// order of row_tree, so every backend, number of threads and alignment gives the same bytes.
///
/// Throws ArgumentError unless out has one element per row, in has the same number of elements for every row,
/// and the workspace has at least reduce_rows_workspace_bytes<Op>(rows, in.size() / rows) bytes.
///
/// The threads of the host share a call. Allocates nothing.
template <class Op>
void reduce_rows(const Host& host, std::span<const typename Op::Element> in, std::size_t rows,
                 std::span<typename Op::Result> out, std::span<std::byte> workspace, const Op& op = {}) {
    detail::check_operator<Op>();
    const std::size_t length = detail::checked_length(in.size(), rows, out.size());
    const std::size_t bytes = reduce_rows_workspace_bytes<Op>(rows, length);
    auto* const nodes = detail::checked_nodes<typename Op::Node>(workspace.data(), workspace.size(), bytes);
    const detail::OperatorWork<Op> work = {op, detail::choose_block_root<Op>(host), in.data(), out.data(),
                                           length};
    detail::reduce_on_host(host, work, rows, nodes);
}

}  // namespace phy

namespace phy::gpu {

namespace detail {

/// How a reduction is spread over a device. Results do not depend on it.
struct RowTuning {
    unsigned threads;          ///< per GPU block that reduces units: whole warps, at most max_row_threads
    unsigned join_threads;     ///< per GPU block that joins roots: a power of two, 32 to max_row_threads
    unsigned level;            ///< a warp reduces units of 2^level blocks of the tree; at most max_row_level
    bool wide;                 ///< threads load several neighbouring elements at once if rows are aligned
    std::uint64_t max_blocks;  ///< max GPU blocks per launch; blocks loop over further work
};
inline constexpr unsigned max_row_level = 4;

/// Good values for a device with this many multiprocessors.
PHY_EXPORT RowTuning row_tuning(std::uint64_t rows, std::uint64_t length, int multiprocessors);

/// A call with checked arguments.
struct RowCall {
    const void* in;
    void* out;
    void* nodes;
    std::uint64_t rows;
    std::uint64_t length;
    const void* op;
    RowTuning tuning;
};

/// Starts the kernels of the operator at this index in BuiltInReductions on the current device.
PHY_EXPORT void start_built_in(std::size_t index, const RowCall& call, cudaStream_t stream);

using RowStart = void (*)(const RowCall& call, cudaStream_t stream);
template <class List>
using RowStarts = std::array<RowStart, List::size>;

/// The functions for a list of built-in operators; one source file per list defines them.
template <class List>
RowStarts<List> row_starts();

/// Starts the kernels of an operator. Defined in phy/reduce/reduce_rows_cuda.cuh: include it for operators
/// that are not built in.
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

/// As gpu::reduce_rows(), for tests and benchmarks of the tuning. Null: the default tuning.
template <class Op>
void reduce_rows_tuned(const Device& device, DeviceSpan<const typename Op::Element> in, std::size_t rows,
                       DeviceSpan<typename Op::Result> out, DeviceSpan<std::byte> workspace,
                       cudaStream_t stream, const Op& op, const RowTuning* tuning) {
    phy::detail::check_operator<Op>();
    const std::size_t length = phy::detail::checked_length(in.size(), rows, out.size());
    const std::size_t bytes = reduce_rows_workspace_bytes<Op>(rows, length);
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

using phy::reduce_rows_workspace_bytes;

/// Reduces each row of a batch in device memory and writes one result per row. Sizes, errors and output bytes
/// are those of phy::reduce_rows().
///
/// The library contains Sum, Mean, Minimum, Maximum and ArgMax of integers of 8 to 64 bits, float and double;
/// sums and means of complex numbers of float and double; and sums in double of float and complex float. For
/// other operators, include phy/reduce/reduce_rows_cuda.cuh in a file that nvcc compiles.
///
/// A call starts kernels on the stream, which belongs to the device. It returns at once, does not allocate or
/// wait, and can be captured in a graph. All arrays must be accessible to the device, must not overlap, and
/// must stay valid until the work is done. Calls that run at the same time need their own workspace. Any
/// alignment works; rows at multiples of 16 bytes are fastest.
template <class Op>
void reduce_rows(const Device& device, DeviceSpan<const typename Op::Element> in, std::size_t rows,
                 DeviceSpan<typename Op::Result> out, DeviceSpan<std::byte> workspace, cudaStream_t stream,
                 const Op& op = {}) {
    detail::reduce_rows_tuned<Op>(device, in, rows, out, workspace, stream, op, nullptr);
}

}  // namespace phy::gpu
