#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/cuda/span.hpp"
#include "phy/pipeline/place.hpp"

struct CUstream_st;
using cudaStream_t = CUstream_st*;  // NOLINT(readability-identifier-naming)

namespace phy {

namespace detail {

class StageUse;

/// A flag for an object in use. Copies and moved objects start unused.
class UseMark {
public:
    UseMark() = default;
    UseMark(const UseMark& /*other*/) noexcept {}
    UseMark& operator=(const UseMark& /*other*/) noexcept { return *this; }
    ~UseMark() = default;

    /// Returns false if it was set already.
    [[nodiscard]] bool set() noexcept { return !is_set_.exchange(true); }
    void clear() noexcept { is_set_ = false; }

private:
    std::atomic<bool> is_set_ = false;
};

}  // namespace detail

/// Neighbouring items that go through the pipeline together.
struct PHY_EXPORT Chunk {
    std::uint64_t index = 0;  ///< 0, 1, 2 ...
    std::uint64_t first = 0;  ///< index of its first item
    std::size_t items = 0;

    /// From 0 to Pipeline::buffer_sets() - 1. No other chunk has this buffer set between source and sink, so
    /// both may keep state per buffer set.
    std::size_t buffer_set = 0;
};

/// A named array that a stage reads or writes: the samples of an antenna, N0, soft bits.
struct PHY_EXPORT Port {
    std::string name;
    std::size_t bytes = 0;  ///< per record

    /// Items per record: 1 for one sample per symbol, more for a value that a block of items shares.
    std::size_t items = 1;

    /// Bytes of the records for count items. Items that do not fill a record have one too.
    [[nodiscard]] std::size_t bytes_of(std::size_t count) const {
        return (count / items + (count % items != 0 ? 1 : 0)) * bytes;
    }

    friend bool operator==(const Port&, const Port&) = default;
};

/// A chunk on a CPU: one array per port of the stage, in the order of the ports, and scratch memory. Arrays
/// of the pipeline are aligned to 64 bytes; arrays lent by source or sink may begin anywhere. The lists of
/// arrays are valid during the call.
struct PHY_EXPORT HostWork {
    Chunk chunk;
    std::span<const std::span<const std::byte>> in;
    std::span<const std::span<std::byte>> out;
    std::span<std::byte> scratch;
};

/// A chunk on a CUDA device, and the stream to use. Arrays are aligned to 256 bytes. The lists of arrays are
/// valid during the call.
struct PHY_EXPORT DeviceWork {
    Chunk chunk;
    std::span<const gpu::DeviceSpan<const std::byte>> in;
    std::span<const gpu::DeviceSpan<std::byte>> out;
    gpu::DeviceSpan<std::byte> scratch;
    cudaStream_t stream;
};

/// A stage at one place. Each function is called by one thread at a time, with the CUDA device as the
/// thread's current one.
class PHY_EXPORT StageRunner {
public:
    virtual ~StageRunner() = default;

    /// Called before the first chunk of a run. Clears the state that a stopped run left. Its work on a device
    /// is complete when it returns.
    virtual void start_run() {}

    /// Processes a chunk in host memory and returns when done. The default throws BackendError: the stage
    /// does not run on a CPU.
    virtual void run_on_host(const HostWork& work);

    /// Starts work on the stream and returns. Must not wait or allocate, and must use the scratch memory on
    /// this stream only. The default throws BackendError.
    virtual void run_on_device(const DeviceWork& work);

    /// Called after the last chunk of a complete run, when all work of the runner is done.
    virtual void end_run() {}
};

/// The processing of a chunk between the copies. A stage serves one pipeline at a time: while it runs, or a
/// pipeline is made for it, any other pipeline that uses it throws ArgumentError.
class PHY_EXPORT Stage {
public:
    virtual ~Stage() = default;

    /// A verb such as "demap", for reports and traces.
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// Input and output ports. Both must not change during the lifetime of the stage.
    [[nodiscard]] virtual std::vector<Port> inputs() const = 0;
    [[nodiscard]] virtual std::vector<Port> outputs() const = 0;

    /// Items per block. Chunks begin at multiples of it, and all but the last chunk of a run hold whole
    /// blocks. Must be a multiple of Port::items of every port.
    [[nodiscard]] virtual std::size_t granularity() const { return 1; }

    /// Bytes of scratch memory for a chunk of this many items. Must not decrease with the number of items.
    /// Aligned like arrays. Its content is undefined when a chunk arrives.
    [[nodiscard]] virtual std::size_t scratch_bytes(std::size_t /*items*/) const { return 0; }

    /// Returns the stage at a place, ready to run; not null. Called once per place of a pipeline. The stage
    /// outlives its runners.
    virtual std::unique_ptr<StageRunner> on(const Place& place) = 0;

    /// Called before and after the same functions of the runners: for what all places contribute to.
    virtual void start_run() {}
    virtual void end_run() {}

private:
    friend class detail::StageUse;
    detail::UseMark in_use_;
};

}  // namespace phy
