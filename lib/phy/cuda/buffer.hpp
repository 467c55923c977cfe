#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

#include "phy/core/check.hpp"
#include "phy/core/export.hpp"
#include "phy/cuda/memory_resource.hpp"
#include "phy/cuda/span.hpp"
#include "phy/cuda/stream.hpp"

/// Arrays in device memory and in page-locked host memory, and copies between them.
namespace phy::gpu {

namespace detail {

struct PHY_EXPORT PinnedMemoryDeleter {
    int device = 0;  ///< current device at the allocation
    void operator()(void* memory) const noexcept;
};
using OwnedPinnedMemory = std::unique_ptr<void, PinnedMemoryDeleter>;

/// count * each, or the largest number if that overflows; its allocation then fails.
constexpr std::size_t bytes_of(std::size_t count, std::size_t each) {
    return count > SIZE_MAX / each ? SIZE_MAX : count * each;
}

/// The returned pointer keeps the memory resource alive.
PHY_EXPORT std::shared_ptr<void> allocate_device(const Device& device, std::size_t bytes);
PHY_EXPORT OwnedPinnedMemory allocate_pinned(std::size_t bytes);
PHY_EXPORT void copy_async(void* to, const void* from, std::size_t bytes, cudaStream_t stream);
PHY_EXPORT void fill_async(void* to, int byte, std::size_t bytes, cudaStream_t stream);

}  // namespace detail

/// An uninitialised array in device memory, aligned to 256 bytes, allocated from memory_resource(). Converts
/// to device spans and views; a const buffer converts to read-only ones.
template <typename T>
requires std::is_trivially_copyable_v<T>
class DeviceBuffer {
public:
    DeviceBuffer() = default;

    /// size: number of elements. Throws CudaError if there is not enough memory.
    DeviceBuffer(const Device& device, std::size_t size)
        : memory_(detail::allocate_device(device, detail::bytes_of(size, sizeof(T)))), size_(size) {}

    DeviceBuffer(DeviceBuffer&& other) noexcept
        : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
    DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
        memory_ = std::move(other.memory_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    [[nodiscard]] T* data() { return static_cast<T*>(memory_.get()); }
    [[nodiscard]] const T* data() const { return static_cast<const T*>(memory_.get()); }
    [[nodiscard]] std::size_t size() const { return size_; }  ///< 0 if moved from
    [[nodiscard]] std::size_t size_bytes() const { return size_ * sizeof(T); }

    [[nodiscard]] DeviceSpan<T> span() { return device_span(data(), size_); }
    [[nodiscard]] DeviceSpan<const T> span() const { return device_span(data(), size_); }
    operator DeviceSpan<T>() { return span(); }
    operator DeviceSpan<const T>() const { return span(); }

    /// count elements, starting at index first. Precondition: first + count <= size().
    [[nodiscard]] DeviceSpan<T> subspan(std::size_t first, std::size_t count) {
        return span().subspan(first, count);
    }
    [[nodiscard]] DeviceSpan<const T> subspan(std::size_t first, std::size_t count) const {
        return span().subspan(first, count);
    }
    [[nodiscard]] DeviceSpan<T> first(std::size_t count) { return span().first(count); }
    [[nodiscard]] DeviceSpan<const T> first(std::size_t count) const { return span().first(count); }

private:
    std::shared_ptr<void> memory_;
    std::size_t size_ = 0;
};

/// An uninitialised array in page-locked host memory: copies to and from a device use the full speed of the
/// link and overlap with other work. A contiguous range of host memory.
template <typename T>
requires std::is_trivially_copyable_v<T>
class PinnedBuffer {
public:
    PinnedBuffer() = default;

    /// size: number of elements. Throws CudaError if there is not enough memory.
    explicit PinnedBuffer(std::size_t size)
        : memory_(detail::allocate_pinned(detail::bytes_of(size, sizeof(T)))), size_(size) {}

    PinnedBuffer(PinnedBuffer&& other) noexcept
        : memory_(std::move(other.memory_)), size_(std::exchange(other.size_, 0)) {}
    PinnedBuffer& operator=(PinnedBuffer&& other) noexcept {
        memory_ = std::move(other.memory_);
        size_ = std::exchange(other.size_, 0);
        return *this;
    }

    [[nodiscard]] T* data() { return static_cast<T*>(memory_.get()); }
    [[nodiscard]] const T* data() const { return static_cast<const T*>(memory_.get()); }
    [[nodiscard]] std::size_t size() const { return size_; }  ///< 0 if moved from
    [[nodiscard]] std::size_t size_bytes() const { return size_ * sizeof(T); }
    [[nodiscard]] T* begin() { return data(); }
    [[nodiscard]] T* end() { return data() + size_; }
    [[nodiscard]] const T* begin() const { return data(); }
    [[nodiscard]] const T* end() const { return data() + size_; }

    /// The same memory as seen by a device. Kernels access it over the link.
    [[nodiscard]] DeviceSpan<T> on_device() { return device_span(data(), size_); }
    [[nodiscard]] DeviceSpan<const T> on_device() const { return device_span(data(), size_); }

private:
    detail::OwnedPinnedMemory memory_;
    std::size_t size_ = 0;
};

namespace detail {

/// The span of a memory to copy from or to: a DeviceSpan or a std::span.
template <typename T>
DeviceSpan<T> any_span(DeviceSpan<T> span) {
    return span;
}
template <typename T>
DeviceSpan<T> any_span(DeviceBuffer<T>& buffer) {
    return buffer.span();
}
template <typename T>
DeviceSpan<const T> any_span(const DeviceBuffer<T>& buffer) {
    return buffer.span();
}
template <typename Range>
requires requires(Range& range) {
    std::span(range);
}
auto any_span(Range& range) {
    return std::span(range);
}

}  // namespace detail

/// Copies between any two memories, in stream order. Returns at once if host memory is pinned. Throws
/// ArgumentError unless both have the same number of elements, CudaError if CUDA reports an error.
template <typename To, typename From>
void copy_async(To&& to, const From& from, cudaStream_t stream) {
    const auto target = detail::any_span(to);
    const auto source = detail::any_span(from);
    using Target = typename decltype(target)::element_type;
    static_assert(std::same_as<Target, typename decltype(source)::value_type>,
                  "copy_async: both memories hold elements of one type, and the first may be written to");
    phy::detail::check_size("copy_async: the target", target.size(), source.size());
    detail::copy_async(target.data(), source.data(), source.size_bytes(), stream);
}

/// Sets every byte of device memory to byte, in stream order.
template <typename Memory>
void fill_async(Memory&& memory, int byte, cudaStream_t stream) {
    const auto target = detail::any_span(memory);
    using Target = typename decltype(target)::element_type;
    static_assert(
        std::same_as<std::remove_const_t<decltype(target)>, DeviceSpan<std::remove_const_t<Target>>>,
        "fill_async: memory of a device that may be written to");
    detail::fill_async(target.data(), byte, target.size_bytes(), stream);
}

namespace detail {

/// Values in new device memory. Waits for the copy.
template <std::ranges::contiguous_range Range>
auto upload(const Device& device, const Range& values) {
    DeviceBuffer<std::ranges::range_value_t<Range>> there(device, std::ranges::size(values));
    const Stream stream(device);
    gpu::copy_async(there, values, stream);
    stream.synchronize();
    return there;
}

}  // namespace detail

}  // namespace phy::gpu
