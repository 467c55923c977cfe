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

/// Whether something is in use. What is copied or moved is not.
class UseMark {
public:
    UseMark() = default;
    UseMark(const UseMark& /*other*/) noexcept {}
    UseMark& operator=(const UseMark& /*other*/) noexcept { return *this; }
    ~UseMark() = default;

    /// False if it was set already.
    [[nodiscard]] bool set() noexcept { return !is_set_.exchange(true); }
    void clear() noexcept { is_set_ = false; }

private:
    std::atomic<bool> is_set_ = false;
};

}  // namespace detail

/// Neighbouring items that travel together.
struct PHY_EXPORT Chunk {
    std::uint64_t index = 0;  ///< 0, 1, 2 ...
    std::uint64_t first = 0;  ///< the number of its first item
    std::size_t items = 0;

    /// Below Pipeline::lanes(). From its source to its sink a chunk has a lane for itself, so that both may
    /// keep things of their own by lane.
    std::size_t lane = 0;
};

/// A named array that a stage takes or gives: the samples of an antenna, N0, soft bits.
struct PHY_EXPORT Port {
    std::string name;
    std::size_t bytes = 0;  ///< of a record

    /// That a record is for: 1 for a sample a symbol, more for what a block of items shares.
    std::size_t items = 1;

    /// Of the records of that many items; those that do not fill a record have one.
    [[nodiscard]] std::size_t bytes_of(std::size_t count) const {
        return (count / items + (count % items != 0 ? 1 : 0)) * bytes;
    }

    friend bool operator==(const Port&, const Port&) = default;
};

/// A chunk on a CPU: an array for each port of the stage, in their order, and scratch memory. Arrays begin at
/// multiples of 64 bytes where the pipeline allocates them; where source or sink lend theirs, anywhere. The
/// lists of arrays last as long as the call.
struct PHY_EXPORT HostWork {
    Chunk chunk;
    std::span<const std::span<const std::byte>> in;
    std::span<const std::span<std::byte>> out;
    std::span<std::byte> scratch;
};

/// A chunk on a CUDA device, and the stream to work on. Arrays begin at multiples of 256 bytes. The lists of
/// arrays last as long as the call.
struct PHY_EXPORT DeviceWork {
    Chunk chunk;
    std::span<const gpu::DeviceSpan<const std::byte>> in;
    std::span<const gpu::DeviceSpan<std::byte>> out;
    gpu::DeviceSpan<std::byte> scratch;
    cudaStream_t stream;
};

/// A stage on one place. Each function is called by one thread at a time; a CUDA device is the thread's
/// current one.
class PHY_EXPORT StageRunner {
public:
    virtual ~StageRunner() = default;

    /// Before the first chunk of a run; forgets what a run that was stopped has left. What it starts on a
    /// device is done when it returns.
    virtual void start_run() {}

    /// Works on host memory, and is done when it returns. Throws by default: the stage does not run there.
    virtual void run_on_host(const HostWork& work);

    /// Starts work on the stream and returns: it does not wait, allocates nothing, and uses the scratch
    /// memory on this stream only. Throws by default.
    virtual void run_on_device(const DeviceWork& work);

    /// After the last chunk of a run of which nothing was left out, when all work of the runner is done.
    virtual void end_run() {}
};

/// What happens to a chunk between the copies. A stage works for one pipeline at a time: while it runs, or
/// a pipeline is made for it, no other pipeline runs it or is made for it (ArgumentError).
class PHY_EXPORT Stage {
public:
    virtual ~Stage() = default;

    /// A verb, for reports and traces, such as "demap".
    [[nodiscard]] virtual std::string_view name() const = 0;

    /// What it takes and what it gives. Both stay the same as long as the stage is.
    [[nodiscard]] virtual std::vector<Port> inputs() const = 0;
    [[nodiscard]] virtual std::vector<Port> outputs() const = 0;

    /// It works on blocks of so many items: chunks begin at multiples of it, and all but the last of a run
    /// hold whole blocks. It is a multiple of Port::items of every port.
    [[nodiscard]] virtual std::size_t granularity() const { return 1; }

    /// Scratch memory for a chunk of that many items, at least as much as for fewer items; it is aligned as
    /// arrays are. What it holds when a chunk comes is not defined.
    [[nodiscard]] virtual std::size_t scratch_bytes(std::size_t /*items*/) const { return 0; }

    /// The stage on a place, ready to run. Called once for every place of a pipeline; the stage outlives what
    /// it has made.
    virtual std::unique_ptr<StageRunner> on(const Place& place) = 0;

    /// Before the runners' of a run, and after theirs: for what is joined from all places.
    virtual void start_run() {}
    virtual void end_run() {}

private:
    friend class detail::StageUse;
    detail::UseMark in_use_;
};

}  // namespace phy
