#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "phy/core/check.hpp"
#include "phy/core/format.hpp"

/// Arrays of samples and soft bits whose format is known at run time. Views in phy refer to host memory.
/// Views in phy::gpu (phy/cuda/view.hpp) refer to memory that a device can access. Neither converts to the
/// other.
namespace phy {

namespace detail {

/// Host memory. Every contiguous range is host memory.
struct HostMemory {
    static constexpr bool takes_raw_pointers = true;

    template <typename T>
    using Span = std::span<T>;

    template <typename T>
    static Span<T> span_at(T* data, std::size_t size) {
        return {data, size};
    }

    template <typename Range>
    requires requires { std::span(std::declval<Range>()); }
    static auto span_of(Range&& range) { return std::span(std::forward<Range>(range)); }

    /// A temporary container converts to a read-only span, which is valid while the temporary lives.
    template <typename Range>
    requires(!std::is_lvalue_reference_v<Range>) &&
        (!requires { std::span(std::declval<Range>()); }) && requires {
        std::span(std::declval<const Range&>());
    }
    static auto span_of(Range&& range) { return std::span(std::as_const(range)); }

    /// The element type of the span that Range converts to; const if the range is read-only.
    template <typename Range>
    using Element = typename decltype(span_of(std::declval<Range>()))::element_type;
};

/// The format and C++ types of an array's elements.
struct Samples {
    using Format = SampleFormat;
    template <typename T>
    static constexpr bool contains = Sample<T>;
    template <typename T>
    static constexpr Format format_of = sample_format_of<T>;
    static void check(Format format) { check_enum("sample format", format, all_sample_formats.back()); }
};
struct SoftBits {
    using Format = SoftBitFormat;
    template <typename T>
    static constexpr bool contains = SoftBit<T>;
    template <typename T>
    static constexpr Format format_of = soft_bit_format_of<T>;
    static void check(Format format) { check_enum("soft-bit format", format, all_soft_bit_formats.back()); }
};

/// An array whose element format is known at run time. Kind lists the possible formats. The array is
/// read-only if Byte is const. Constructors throw ArgumentError for more than 2^56 elements.
template <class Kind, typename Byte, class Memory>
class FormattedSpan {
public:
    using Format = typename Kind::Format;
    using Void = std::conditional_t<std::is_const_v<Byte>, const void, void>;
    static constexpr bool is_read_only = std::is_const_v<Byte>;

    FormattedSpan() = default;

    /// Converts from any contiguous range of samples or soft bits in this memory. Other ranges do not
    /// compile, nor do read-only ranges if this span is writable.
    template <typename Range, typename T = typename Memory::template Element<Range>>
    requires(Kind::template contains<std::remove_const_t<T>> && (is_read_only || !std::is_const_v<T>))
        FormattedSpan(Range&& range)
        : format_(Kind::template format_of<std::remove_const_t<T>>) {
        const auto elements = Memory::span_of(std::forward<Range>(range));
        data_ = reinterpret_cast<Byte*>(elements.data());
        size_ = checked_elements(elements.size());
    }

    /// As many whole elements as fit into bytes. They may be unaligned. Throws ArgumentError for an
    /// out-of-range format.
    FormattedSpan(Format format, typename Memory::template Span<Byte> bytes)
        : format_((Kind::check(format), format)),
          data_(bytes.data()),
          size_(checked_elements(bytes.size() / size_of(format))) {}

    /// size elements from a raw pointer in host memory; wrap device pointers in gpu::device_span(). Does not
    /// check the format: the function that takes the span does.
    template <typename Pointer>
    requires(Memory::takes_raw_pointers&& std::is_convertible_v<Pointer, Void*>)
        FormattedSpan(Format format, Pointer data, std::size_t size)
        : format_(format),
          data_(static_cast<Byte*>(static_cast<Void*>(data))),
          size_(checked_elements(size)) {}

    /// A writable span converts to a read-only one.
    operator FormattedSpan<Kind, const std::byte, Memory>() const requires(!is_read_only) {
        FormattedSpan<Kind, const std::byte, Memory> read_only;
        read_only.format_ = format_;
        read_only.data_ = data_;
        read_only.size_ = size_;
        return read_only;
    }

    [[nodiscard]] Format format() const { return format_; }
    [[nodiscard]] Byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }  ///< in elements

    [[nodiscard]] typename Memory::template Span<Byte> bytes() const {
        return Memory::span_at(data_, size_ * size_of(format_));
    }

    /// count elements, starting at index first. Precondition: first + count <= size().
    [[nodiscard]] FormattedSpan subspan(std::size_t first, std::size_t count) const {
        return {format_, bytes().subspan(first * size_of(format_), count * size_of(format_))};
    }

private:
    template <class, typename, class>
    friend class FormattedSpan;

    Format format_ = {};
    Byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace detail

/// Read-only span of IQ samples in host memory.
using SymbolView = detail::FormattedSpan<detail::Samples, const std::byte, detail::HostMemory>;

/// Writable span of IQ samples in host memory.
using SymbolSpan = detail::FormattedSpan<detail::Samples, std::byte, detail::HostMemory>;

/// Read-only span of soft bits in host memory.
using SoftBitView = detail::FormattedSpan<detail::SoftBits, const std::byte, detail::HostMemory>;

/// Writable span of soft bits in host memory.
using SoftBitSpan = detail::FormattedSpan<detail::SoftBits, std::byte, detail::HostMemory>;

}  // namespace phy
