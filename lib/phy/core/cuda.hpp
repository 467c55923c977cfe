#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "phy/core/error.hpp"

/// CUDA devices, streams, events and memory. Needs a phy that was built with CUDA, but no CUDA header: what
/// follows is what <cuda_runtime_api.h> declares too.
struct CUstream_st;
struct CUevent_st;
struct CUgraphExec_st;
using cudaStream_t = CUstream_st*;  // NOLINT(readability-identifier-naming)
using cudaEvent_t = CUevent_st*;    // NOLINT(readability-identifier-naming)

namespace phy::gpu {

namespace detail {

/// What std::source_location is, which clang 14 does not have.
struct CallSite {
    const char* file;
    int line;

    static constexpr CallSite current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

}  // namespace detail

/// A CUDA call failed. what() has the name and text of the error, and the file and line of the call.
class CudaError : public Error {
public:
    /// code is a cudaError_t.
    explicit CudaError(int code, detail::CallSite where = detail::CallSite::current());

    [[nodiscard]] int code() const { return code_; }

    /// There was not enough memory.
    [[nodiscard]] bool out_of_memory() const;

private:
    int code_;
};

/// Throws CudaError unless code, a cudaError_t, is cudaSuccess.
inline void check(int code, detail::CallSite where = detail::CallSite::current()) {
    if (code != 0) throw CudaError(code, where);
}

/// A CUDA device that phy can run on.
class Device {
public:
    /// Throws BackendError if there is no such device, no driver, or this phy has no code for the device.
    explicit Device(int ordinal = 0);

    /// Every device that phy can run on; none where there is no driver.
    static std::vector<Device> all();

    /// Why all() is empty or lacks a device, for people: "no CUDA driver"; empty if nothing is missing.
    static std::string why_not();

    [[nodiscard]] int ordinal() const { return ordinal_; }
    [[nodiscard]] std::string name() const;        ///< such as "NVIDIA H200"
    [[nodiscard]] int compute_capability() const;  ///< 90 for 9.0
    [[nodiscard]] int multiprocessors() const;
    [[nodiscard]] std::size_t shared_memory_per_block() const;  ///< bytes, the most that a kernel may ask for
    [[nodiscard]] std::size_t memory() const;                   ///< bytes
    [[nodiscard]] std::size_t free_memory() const;              ///< bytes

    /// Waits for all work on the device.
    void synchronize() const;

    /// Makes it the calling thread's current device, until another one is made that; see CurrentDevice.
    void make_current() const;

    friend bool operator==(const Device&, const Device&) = default;

private:
    int ordinal_;
};

/// Makes a device the calling thread's current one for a scope, as everything here does that works on a
/// device. What is current when a thread starts is device 0, and CUDA makes a context on it when the scope
/// ends: call cudaSetDevice first in a thread that is to leave device 0 alone.
class CurrentDevice {
public:
    explicit CurrentDevice(const Device& device);
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;  ///< the scope is this object's
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    int before_ = 0;
    bool changed_ = false;
};

namespace detail {

struct StreamDeleter {
    using pointer = cudaStream_t;
    void operator()(cudaStream_t stream) const noexcept;
};
struct EventDeleter {
    using pointer = cudaEvent_t;
    void operator()(cudaEvent_t event) const noexcept;
};
struct GraphDeleter {
    void operator()(CUgraphExec_st* graph) const noexcept;
};
struct DeviceMemoryDeleter {
    using pointer = void*;
    void operator()(void* memory) const noexcept;
};
struct PinnedMemoryDeleter {
    using pointer = void*;
    void operator()(void* memory) const noexcept;
};
using DeviceMemory = std::unique_ptr<void, DeviceMemoryDeleter>;
using PinnedMemory = std::unique_ptr<void, PinnedMemoryDeleter>;

/// The largest number where the bytes are beyond it, and then no memory has room for them.
constexpr std::size_t bytes_of(std::size_t count, std::size_t each) {
    return count > SIZE_MAX / each ? SIZE_MAX : count * each;
}

DeviceMemory allocate_device(const Device& device, std::size_t bytes);
PinnedMemory allocate_pinned(std::size_t bytes);
void copy_async(void* to, const void* from, std::size_t bytes, cudaStream_t stream);
void fill_async(void* to, int byte, std::size_t bytes, cudaStream_t stream);

}  // namespace detail

/// An owning stream that does not wait for the default stream. Converts to cudaStream_t, the view.
class Stream {
public:
    explicit Stream(const Device& device);

    [[nodiscard]] cudaStream_t get() const { return stream_.get(); }
    operator cudaStream_t() const { return stream_.get(); }

    /// Waits for all work on the stream; throws what went wrong in it.
    void synchronize() const;

private:
    std::unique_ptr<CUstream_st, detail::StreamDeleter> stream_;
};

/// A point in a stream's work.
class Event {
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
    std::unique_ptr<CUevent_st, detail::EventDeleter> event_;
};

/// Work of a stream that was captured once and starts as a whole: the host has one call to make, and between
/// the kernels there is the device's time alone.
class Graph {
public:
    /// Has the work started once, waits for it, and captures it the second time: code that is loaded when it
    /// first runs must not have to be while capturing. The work starts what it does on the stream that it is
    /// given, and must not wait for it. What it points at must stay as long as the graph runs.
    Graph(const Device& device, const std::function<void(cudaStream_t)>& work);

    /// Starts all of it on the stream, which belongs to the device; one start at a time.
    void operator()(cudaStream_t stream) const;

private:
    std::unique_ptr<CUgraphExec_st, detail::GraphDeleter> graph_;
};

namespace detail {

/// What both buffers are: an owned array that converts to spans and views.
template <typename T, typename Memory>
requires std::is_trivially_copyable_v<T>
class Buffer {
public:
    [[nodiscard]] T* data() const { return static_cast<T*>(memory_.get()); }
    [[nodiscard]] std::size_t size() const { return data() == nullptr ? 0 : size_; }  ///< 0 once moved from
    [[nodiscard]] std::size_t bytes() const { return size() * sizeof(T); }
    [[nodiscard]] T* begin() const { return data(); }
    [[nodiscard]] T* end() const { return data() + size(); }

protected:
    Buffer() = default;
    Buffer(Memory memory, std::size_t size) : memory_(std::move(memory)), size_(size) {}

private:
    Memory memory_;
    std::size_t size_ = 0;
};

}  // namespace detail

/// An array in device memory, uninitialised and aligned to 256 bytes. A range, so that it converts to spans
/// and views; what they point at must not be read by the host.
template <typename T>
class DeviceBuffer : public detail::Buffer<T, detail::DeviceMemory> {
public:
    DeviceBuffer() = default;

    /// Throws CudaError if there is not enough memory.
    DeviceBuffer(const Device& device, std::size_t size)
        : detail::Buffer<T, detail::DeviceMemory>(
              detail::allocate_device(device, detail::bytes_of(size, sizeof(T))), size) {}
};

/// An array in page-locked host memory, uninitialised: copies between it and a device run at the full speed
/// of the link and beside other work.
template <typename T>
class PinnedBuffer : public detail::Buffer<T, detail::PinnedMemory> {
public:
    PinnedBuffer() = default;

    /// Throws CudaError if there is not enough memory.
    explicit PinnedBuffer(std::size_t size)
        : detail::Buffer<T, detail::PinnedMemory>(detail::allocate_pinned(detail::bytes_of(size, sizeof(T))),
                                                  size) {}
};

/// Copies from.size() elements between any two memories, in the order of the stream; returns at once if the
/// host's memory is pinned. to must be as long as from (the caller's duty).
template <typename To, typename From>
void copy_async(To&& to, const From& from, cudaStream_t stream) {
    const std::span target(to);
    const std::span source(from);
    static_assert(std::same_as<typename decltype(target)::value_type, typename decltype(source)::value_type>);
    detail::copy_async(target.data(), source.data(), source.size_bytes(), stream);
}

/// Sets every byte of a range in device memory.
template <typename Range>
void fill_async(Range&& range, int byte, cudaStream_t stream) {
    const std::span target(range);
    detail::fill_async(target.data(), byte, target.size_bytes(), stream);
}

}  // namespace phy::gpu
