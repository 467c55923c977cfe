#pragma once

#include <functional>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/device.hpp"

/// Streams, events and graphs. What follows is what <cuda_runtime_api.h> declares too.
struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;
using cudaStream_t = CUstream_st*;  // NOLINT(readability-identifier-naming)
using cudaEvent_t = CUevent_st*;    // NOLINT(readability-identifier-naming)

namespace phy::gpu {

namespace detail {

struct PHY_EXPORT StreamDeleter {
    using pointer = cudaStream_t;
    int device = 0;
    void operator()(cudaStream_t stream) const noexcept;
};
struct PHY_EXPORT EventDeleter {
    using pointer = cudaEvent_t;
    int device = 0;
    void operator()(cudaEvent_t event) const noexcept;
};
struct PHY_EXPORT GraphDeleter {
    int device = 0;
    void operator()(CUgraphExec_st* graph) const noexcept;
};

}  // namespace detail

/// An owning stream that does not wait for the default stream. Converts to cudaStream_t, the view.
class PHY_EXPORT Stream {
public:
    explicit Stream(const Device& device);

    [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
    operator cudaStream_t() const { return stream_.get(); }

    /// Waits for all work on the stream; throws what went wrong in it.
    void synchronize() const;

private:
    using Handle = phy::detail::Owned<CUstream_st, "gpu::Stream", detail::StreamDeleter>;

    int device_;
    Handle stream_;
};

/// A point in a stream's work.
class PHY_EXPORT Event {
public:
    /// Streams wait for a timed event to be written, which costs copies that overlap up to a quarter of their
    /// speed; one that is not timed only says that it has passed.
    enum class Timing : bool { off, on };

    explicit Event(const Device& device, Timing timing = Timing::on);

    void record(cudaStream_t stream) const;
    void synchronize() const;

    /// Makes later work of the stream wait for the event.
    void hold_back(cudaStream_t stream) const;

    /// Both events must be timed and have passed.
    [[nodiscard]] float milliseconds_since(const Event& earlier) const;

    [[nodiscard]] cudaEvent_t get() const { return event_.get(); }

private:
    using Handle = phy::detail::Owned<CUevent_st, "gpu::Event", detail::EventDeleter>;

    int device_;
    Handle event_;
};

/// Work of a stream that was captured once and starts as a whole: the host has one call to make, and between
/// the kernels there is the device's time alone.
class PHY_EXPORT Graph {
public:
    /// Has the work started once, waits for it, and captures it the second time: code that is loaded when it
    /// first runs must not have to be while capturing. The work starts what it does on the stream that it is
    /// given, and must not wait for it. What it points at must stay as long as the graph runs.
    Graph(const Device& device, const std::function<void(cudaStream_t)>& work);

    /// Starts all of it on the stream, which belongs to the device; one start at a time.
    void operator()(cudaStream_t stream) const;

private:
    using Handle = phy::detail::Owned<CUgraphExec_st, "gpu::Graph", detail::GraphDeleter>;

    int device_;
    Handle graph_;
};

}  // namespace phy::gpu
