#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/core/export.hpp"

/// CUDA devices. The headers of phy::gpu need a library that was built with CUDA, but no CUDA header.
namespace phy::gpu {

namespace detail {

/// A replacement for std::source_location, which clang 14 lacks.
struct CallSite {
    const char* file;
    int line;

    static constexpr CallSite current(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
        return {file, line};
    }
};

}  // namespace detail

/// A CUDA call failed. what() holds the name and text of the error, and file and line of the call.
class PHY_EXPORT CudaError : public Error {
public:
    /// code: a cudaError_t.
    explicit CudaError(int code, detail::CallSite where = detail::CallSite::current());

    [[nodiscard]] int code() const { return code_; }

    /// True if the cause was a lack of memory.
    [[nodiscard]] bool out_of_memory() const;

private:
    int code_;
};

/// Throws CudaError unless code, a cudaError_t, is cudaSuccess.
inline void check(int code, detail::CallSite where = detail::CallSite::current()) {
    if (code != 0) throw CudaError(code, where);
}

/// A CUDA device that phy can run on: the counterpart of Host on a GPU. A small value: copy and compare it
/// freely.
class PHY_EXPORT Device {
public:
    /// Throws BackendError if the device or the driver is missing, or if phy was built without code for the
    /// device.
    explicit Device(int ordinal = 0);

    /// Every device that phy can run on; empty without a driver.
    static std::vector<Device> all();

    /// Why all() is empty or lacks a device, as a text for people: "no NVIDIA GPU". Empty if no device is
    /// missing.
    static std::string why_not();

    /// True if this machine has an NVIDIA GPU, whether or not phy can run on it. A program that chooses a
    /// device by itself should warn if all() is empty then.
    static bool installed();

    [[nodiscard]] int ordinal() const { return ordinal_; }
    [[nodiscard]] std::string name() const;        ///< such as "NVIDIA H200"
    [[nodiscard]] int compute_capability() const;  ///< 90 for 9.0
    [[nodiscard]] int multiprocessors() const;
    [[nodiscard]] std::size_t shared_memory_per_block() const;  ///< bytes, maximum that a kernel may request
    [[nodiscard]] std::size_t memory() const;                   ///< bytes
    [[nodiscard]] std::size_t free_memory() const;              ///< bytes

    /// Waits for all work on the device.
    void synchronize() const;

    /// Makes this the calling thread's current device until another device becomes current; see
    /// CurrentDevice.
    void make_current() const;

    friend bool operator==(const Device&, const Device&) = default;

private:
    int ordinal_;
};

/// Makes a device the calling thread's current device for a scope, as every function of phy::gpu does that
/// works on a device. The destructor restores the thread's previous context. A thread without a context has
/// none again, and no other device gets one.
class PHY_EXPORT CurrentDevice {
public:
    explicit CurrentDevice(const Device& device) : CurrentDevice(device.ordinal()) {}
    explicit CurrentDevice(int ordinal);  ///< the device must exist
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;  ///< the scope is this object's
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    int ordinal_;
    bool pushed_ = false;
};

}  // namespace phy::gpu
