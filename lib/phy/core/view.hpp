#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include "phy/core/check_enum.hpp"
#include "phy/core/format.hpp"

/// Arrays of samples and soft bits whose format is known at run time. Those of phy lie in host memory, those
/// of phy::gpu (phy/cuda/view.hpp) in memory that a device reaches: one does not convert to the other.
namespace phy {

namespace detail {

/// Memory that the host works on. Contiguous ranges are in it.
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

    /// A temporary container may be read as long as it is there, but not be written to.
    template <typename Range>
    requires(!std::is_lvalue_reference_v<Range>) &&
        (!requires { std::span(std::declval<Range>()); }) && requires {
        std::span(std::declval<const Range&>());
    }
    static auto span_of(Range&& range) { return std::span(std::as_const(range)); }

    /// The element type of what converts to a span in this memory, const where it may not be written to.
    template <typename Range>
    using Element = typename decltype(span_of(std::declval<Range>()))::element_type;
};

/// Which formats there are for what, and their C++ types.
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

/// An array in a memory, of elements of which Kind says the formats; of const bytes it is read-only.
template <class Kind, typename Byte, class Memory>
class FormattedSpan {
public:
    using Format = typename Kind::Format;
    using Void = std::conditional_t<std::is_const_v<Byte>, const void, void>;
    static constexpr bool is_read_only = std::is_const_v<Byte>;

    FormattedSpan() = default;

    /// Any contiguous range of elements in this memory converts; a range of anything else does not compile,
    /// nor one that may not be written to where this one may.
    template <typename Range, typename T = typename Memory::template Element<Range>>
    requires(Kind::template contains<std::remove_const_t<T>> && (is_read_only || !std::is_const_v<T>))
        FormattedSpan(Range&& range)
        : format_(Kind::template format_of<std::remove_const_t<T>>) {
        const auto elements = Memory::span_of(std::forward<Range>(range));
        data_ = reinterpret_cast<Byte*>(elements.data());
        size_ = elements.size();
    }

    /// As many elements of the format as the bytes hold; they may be unaligned. Throws ArgumentError for a
    /// format that was cast from a number that names none.
    FormattedSpan(Format format, typename Memory::template Span<Byte> bytes)
        : format_((Kind::check(format), format)),
          data_(bytes.data()),
          size_(bytes.size() / size_of(format)) {}

    /// size elements from a raw pointer on, in host memory; on a device gpu::device_span() makes it one. Who
    /// is given the span looks at the format.
    template <typename Pointer>
    requires(Memory::takes_raw_pointers&& std::is_convertible_v<Pointer, Void*>)
        FormattedSpan(Format format, Pointer data, std::size_t size)
        : format_(format), data_(static_cast<Byte*>(static_cast<Void*>(data))), size_(size) {}

    /// What may be written to can be read.
    operator FormattedSpan<Kind, const std::byte, Memory>() const requires(!is_read_only) {
        FormattedSpan<Kind, const std::byte, Memory> read_only;
        read_only.format_ = format_;
        read_only.data_ = data_;
        read_only.size_ = size_;
        return read_only;
    }

    [[nodiscard]] Format format() const { return format_; }
    [[nodiscard]] Byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }  ///< elements

    [[nodiscard]] typename Memory::template Span<Byte> bytes() const {
        return Memory::span_at(data_, size_ * size_of(format_));
    }

    /// count elements from the first on; the caller keeps first + count <= size().
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

/// A read-only span of IQ samples in host memory.
using SymbolView = detail::FormattedSpan<detail::Samples, const std::byte, detail::HostMemory>;

/// A writable one.
using SymbolSpan = detail::FormattedSpan<detail::Samples, std::byte, detail::HostMemory>;

/// A read-only span of soft bits in host memory.
using SoftBitView = detail::FormattedSpan<detail::SoftBits, const std::byte, detail::HostMemory>;

/// A writable one.
using SoftBitSpan = detail::FormattedSpan<detail::SoftBits, std::byte, detail::HostMemory>;

}  // namespace phy
