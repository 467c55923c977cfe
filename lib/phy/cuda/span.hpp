#pragma once

#include <cstddef>
#include <type_traits>

namespace phy::gpu {

/// An array in memory that a device can access. The host may be unable to, so a DeviceSpan is not a range:
/// neither loops nor std::span accept it. A DeviceBuffer converts to it. Wrap raw device pointers in
/// device_span().
template <typename T>
class DeviceSpan {
public:
    using element_type = T;  // NOLINT(readability-identifier-naming)
    using value_type = std::remove_cv_t<T>;

    DeviceSpan() = default;

    /// A writable span converts to a read-only one.
    template <typename U>
    requires(std::is_const_v<T>&& std::is_same_v<U, value_type>) DeviceSpan(DeviceSpan<U> other)
        : data_(other.data()), size_(other.size()) {}

    [[nodiscard]] T* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    [[nodiscard]] std::size_t size_bytes() const { return size_ * sizeof(T); }
    [[nodiscard]] bool empty() const { return size_ == 0; }

    /// count elements, starting at index first. Precondition: first + count <= size().
    [[nodiscard]] DeviceSpan subspan(std::size_t first, std::size_t count) const {
        return DeviceSpan(data_ + first, count);
    }
    [[nodiscard]] DeviceSpan first(std::size_t count) const { return subspan(0, count); }

private:
    DeviceSpan(T* data, std::size_t size) : data_(data), size_(size) {}

    template <typename U>
    friend DeviceSpan<U> device_span(U* data, std::size_t size);

    T* data_ = nullptr;
    std::size_t size_ = 0;
};

/// Declares that size elements at data are in memory that the device can access: its own, or page-locked host
/// memory.
template <typename T>
[[nodiscard]] DeviceSpan<T> device_span(T* data, std::size_t size) {
    return DeviceSpan<T>(data, size);
}

/// The same memory as bytes.
template <typename T>
[[nodiscard]] auto as_bytes(DeviceSpan<T> span) {
    using Byte = std::conditional_t<std::is_const_v<T>, const std::byte, std::byte>;
    return device_span(reinterpret_cast<Byte*>(span.data()), span.size_bytes());
}

/// The same memory as elements of another type: as many whole elements as fit. The memory must be aligned for
/// them.
template <typename T, typename Byte>
[[nodiscard]] auto elements_of(DeviceSpan<Byte> bytes) {
    static_assert(std::is_same_v<std::remove_const_t<Byte>, std::byte>);
    using Element = std::conditional_t<std::is_const_v<Byte>, const T, T>;
    return device_span(reinterpret_cast<Element*>(bytes.data()), bytes.size() / sizeof(T));
}

}  // namespace phy::gpu
