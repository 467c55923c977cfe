#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <type_traits>

#include "phy/core/format.hpp"

namespace phy {

template <typename T>
concept Sample =
    std::same_as<T, cf32> || std::same_as<T, cf16> || std::same_as<T, ci16> || std::same_as<T, ci8>;

template <typename T>
concept SoftBit = std::same_as<T, std::int8_t> || std::same_as<T, half> || std::same_as<T, float>;

namespace detail {

/// A contiguous range whose elements are T.
template <typename Range>
concept Contiguous = requires(Range& range) {
    std::span(range);
};

template <Contiguous Range>
using Element = typename decltype(std::span(std::declval<Range&>()))::element_type;

}  // namespace detail

/// A read-only span of IQ samples whose format is known at run time. Any contiguous range of samples (vector,
/// array, span) converts to it; a range of anything else does not compile.
class SymbolView {
public:
    SymbolView() = default;

    template <detail::Contiguous Range>
    requires Sample<std::remove_const_t<detail::Element<const Range>>> SymbolView(const Range& symbols)
        : SymbolView(sample_format_of<std::remove_const_t<detail::Element<const Range>>>,
                     std::span(symbols).data(), std::span(symbols).size()) {}

    /// data points at size samples of the given format; it may be unaligned.
    SymbolView(SampleFormat format, const void* data, std::size_t size)
        : format_(format), data_(static_cast<const std::byte*>(data)), size_(size) {}

    [[nodiscard]] SampleFormat format() const { return format_; }
    [[nodiscard]] const std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// count symbols from the first on; the caller keeps first + count <= size().
    [[nodiscard]] SymbolView subview(std::size_t first, std::size_t count) const {
        return {format_, data_ + first * size_of(format_), count};
    }

private:
    SampleFormat format_ = SampleFormat::cf32;
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// A writable span of IQ samples whose format is known at run time.
class SymbolSpan {
public:
    SymbolSpan() = default;

    template <detail::Contiguous Range>
    requires Sample<detail::Element<Range>> SymbolSpan(Range&& symbols)
        : SymbolSpan(sample_format_of<detail::Element<Range>>, std::span(symbols).data(),
                     std::span(symbols).size()) {}

    SymbolSpan(SampleFormat format, void* data, std::size_t size)
        : format_(format), data_(static_cast<std::byte*>(data)), size_(size) {}

    [[nodiscard]] SampleFormat format() const { return format_; }
    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

private:
    SampleFormat format_ = SampleFormat::cf32;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// A writable span of soft bits whose format is known at run time.
class SoftBitSpan {
public:
    SoftBitSpan() = default;

    template <detail::Contiguous Range>
    requires SoftBit<detail::Element<Range>> SoftBitSpan(Range&& soft_bits)
        : SoftBitSpan(soft_bit_format_of<detail::Element<Range>>, std::span(soft_bits).data(),
                      std::span(soft_bits).size()) {}

    /// data points at size soft bits of the given format; it may be unaligned.
    SoftBitSpan(SoftBitFormat format, void* data, std::size_t size)
        : format_(format), data_(static_cast<std::byte*>(data)), size_(size) {}

    [[nodiscard]] SoftBitFormat format() const { return format_; }
    [[nodiscard]] std::byte* data() const { return data_; }
    [[nodiscard]] std::size_t size() const { return size_; }

    /// count soft bits from the first on; the caller keeps first + count <= size().
    [[nodiscard]] SoftBitSpan subspan(std::size_t first, std::size_t count) const {
        return {format_, data_ + first * size_of(format_), count};
    }

private:
    SoftBitFormat format_ = SoftBitFormat::int8;
    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace phy
