#pragma once

#include "phy/core/noise_variance.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/span.hpp"

/// Arrays of samples and soft bits in memory that a device can access: the counterpart of phy/core/view.hpp.
namespace phy::gpu {

namespace detail {

/// Memory of a device: device spans and buffers.
struct DeviceMemory {
    static constexpr bool takes_raw_pointers = false;

    template <typename T>
    using Span = DeviceSpan<T>;

    template <typename T>
    static Span<T> span_at(T* data, std::size_t size) {
        return device_span(data, size);
    }

    template <typename T>
    static DeviceSpan<T> span_of(DeviceSpan<T> span) {
        return span;
    }
    /// Only if span() is device memory: a class may have a span() of host memory.
    template <typename Range>
    static auto span_of(Range&& range) -> decltype(span_of(range.span())) {
        return range.span();
    }

    template <typename Range>
    using Element = typename decltype(span_of(std::declval<Range>()))::element_type;
};

}  // namespace detail

/// As phy::SymbolView, phy::SymbolSpan, phy::SoftBitView and phy::SoftBitSpan.
using SymbolView = phy::detail::FormattedSpan<phy::detail::Samples, const std::byte, detail::DeviceMemory>;
using SymbolSpan = phy::detail::FormattedSpan<phy::detail::Samples, std::byte, detail::DeviceMemory>;
using SoftBitView = phy::detail::FormattedSpan<phy::detail::SoftBits, const std::byte, detail::DeviceMemory>;
using SoftBitSpan = phy::detail::FormattedSpan<phy::detail::SoftBits, std::byte, detail::DeviceMemory>;

/// As phy::NoiseVariance.
using NoiseVariance = phy::detail::NoiseVarianceIn<detail::DeviceMemory>;

}  // namespace phy::gpu
