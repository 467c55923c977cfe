#include "phy/cuda/stream.hpp"

#include <cuda_runtime_api.h>

#include "phy/cuda/give_back.hpp"

namespace phy::gpu {

using detail::clear_error;

namespace {

/// destroy: cudaStreamDestroy or its like.
template <class Handle>
auto destroyer(int device, cudaError_t (*destroy)(Handle)) {
    return [=](Handle handle) noexcept { detail::give_back(device, [=] { return destroy(handle); }); };
}

}  // namespace

Stream::Stream(const Device& device) : device_(device.ordinal()) {
    const CurrentDevice current(device);
    cudaStream_t stream = nullptr;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    stream_ = {stream, destroyer(device_, &cudaStreamDestroy)};
}

void Stream::synchronize() const {
    const CurrentDevice current(device_);
    check(cudaStreamSynchronize(stream_.get()));
}

Event::Event(const Device& device, Timing timing) : device_(device.ordinal()) {
    const CurrentDevice current(device);
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, timing == Timing::on ? cudaEventDefault : cudaEventDisableTiming));
    event_ = {event, destroyer(device_, &cudaEventDestroy)};
}

void Event::record(cudaStream_t stream) const {
    const CurrentDevice current(device_);
    check(cudaEventRecord(event_.get(), stream));
}

void Event::synchronize() const {
    const CurrentDevice current(device_);
    check(cudaEventSynchronize(event_.get()));
}

void Event::delay(cudaStream_t stream) const {
    const CurrentDevice current(device_);
    check(cudaStreamWaitEvent(stream, event_.get(), 0));
}

float Event::milliseconds_since(const Event& earlier) const {
    const CurrentDevice current(device_);
    float milliseconds = 0.0F;
    check(cudaEventElapsedTime(&milliseconds, earlier.event_.get(), event_.get()));
    return milliseconds;
}

Graph::Graph(const Device& device, const std::function<void(cudaStream_t)>& work)
    : device_(device.ordinal()) {
    const CurrentDevice current(device);
    const Stream stream(device);
    work(stream);
    stream.synchronize();
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    cudaGraph_t captured = nullptr;
    try {
        work(stream);
    } catch (...) {
        clear_error(cudaStreamEndCapture(stream, &captured));
        if (captured != nullptr) clear_error(cudaGraphDestroy(captured));
        throw;
    }
    check(cudaStreamEndCapture(stream, &captured));
    cudaGraphExec_t executable = nullptr;
    const cudaError_t code = cudaGraphInstantiate(&executable, captured, 0);
    clear_error(cudaGraphDestroy(captured));
    check(code);
    graph_ = {executable, destroyer(device_, &cudaGraphExecDestroy)};
}

void Graph::operator()(cudaStream_t stream) const {
    const CurrentDevice current(device_);
    check(cudaGraphLaunch(graph_.get(), stream));
}

}  // namespace phy::gpu
