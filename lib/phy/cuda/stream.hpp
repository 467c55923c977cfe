#pragma once

#include <functional>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/device.hpp"

/// Streams, events and graphs. The declarations below are the same as in <cuda_runtime_api.h>.
struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;
using cudaStream_t = CUstream_st*;  // NOLINT(readability-identifier-naming)
using cudaEvent_t = CUevent_st*;    // NOLINT(readability-identifier-naming)

namespace phy::gpu {

/// A stream that does not wait for the default stream. Owns its cudaStream_t and converts to it.
class PHY_EXPORT Stream {
public:
    explicit Stream(const Device& device);

    [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
    operator cudaStream_t() const { return stream_.get(); }

    /// Waits for all work on the stream. Throws CudaError if any of it failed.
    void synchronize() const;

private:
    int device_;
    phy::detail::Owned<CUstream_st, "gpu::Stream"> stream_;
};

/// A point in a stream's work. Functions throw CudaError.
class PHY_EXPORT Event {
public:
    /// A stream waits until a timed event is written, which slows overlapping copies by up to a quarter. An
    /// event without timing only records that it has passed.
    enum class Timing : bool { off, on };

    explicit Event(const Device& device, Timing timing = Timing::on);

    void record(cudaStream_t stream) const;
    void synchronize() const;

    /// Makes later work on the stream wait for the event.
    void delay(cudaStream_t stream) const;

    /// Time between two events in milliseconds. Both must be timed and have passed.
    [[nodiscard]] float milliseconds_since(const Event& earlier) const;

    [[nodiscard]] cudaEvent_t get() const { return event_.get(); }

private:
    int device_;
    phy::detail::Owned<CUevent_st, "gpu::Event"> event_;
};

/// Work of a stream, captured once and started as a whole: one call on the host, and no host time between
/// kernels.
class PHY_EXPORT Graph {
public:
    /// Calls work once and waits for it, then calls it again and captures it: kernels load their code at the
    /// first launch, which must not happen during a capture. work starts everything on the stream that it
    /// gets, and must not wait for it. Memory that the work uses must stay valid while the graph is used.
    Graph(const Device& device, const std::function<void(cudaStream_t)>& work);

    /// Starts the graph on a stream of the same device. Only one start may be in progress at a time.
    void operator()(cudaStream_t stream) const;

private:
    int device_;
    phy::detail::Owned<CUgraphExec_st, "gpu::Graph"> graph_;
};

}  // namespace phy::gpu
