#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/core/export.hpp"

/// CUDA devices. The headers of phy::gpu need a phy that was built with CUDA, but no CUDA header.
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
class PHY_EXPORT CudaError : public Error {
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

/// A CUDA device that phy can run on: on a GPU, what Host is on a CPU. A small value that can be compared and
/// copied.
class PHY_EXPORT Device {
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
/// device. After it the thread has the context that it had before; where that was none, it has none again,
/// and no other device gets one.
class PHY_EXPORT CurrentDevice {
public:
    explicit CurrentDevice(const Device& device) : CurrentDevice(device.ordinal()) {}
    explicit CurrentDevice(int ordinal);  ///< of a device that is there
    ~CurrentDevice();
    CurrentDevice(const CurrentDevice&) = delete;  ///< the scope is this object's
    CurrentDevice& operator=(const CurrentDevice&) = delete;

private:
    int ordinal_;
    bool pushed_ = false;
};

}  // namespace phy::gpu
