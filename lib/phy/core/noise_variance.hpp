#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "phy/core/view.hpp"

namespace phy {

namespace detail {

/// N0, the variance E|n|^2 of the complex noise on symbols of unit mean power. It is either one value for all
/// symbols of a call or one value per symbol, as from an MMSE equaliser. Refers to the caller's array and
/// owns nothing.
template <class Memory>
class NoiseVarianceIn {
public:
    using Values = typename Memory::template Span<const float>;

    NoiseVarianceIn(float all_symbols) : scalar_(all_symbols) {}

    /// Converts from any contiguous range of floats in this memory.
    template <typename Range, typename T = typename Memory::template Element<Range>>
    requires std::same_as < std::remove_const_t<T>,
    float > NoiseVarianceIn(Range&& per_symbol) : values_(Memory::span_of(std::forward<Range>(per_symbol))) {}

    [[nodiscard]] bool is_per_symbol() const { return !scalar_.has_value(); }

    /// The value for all symbols; none if each symbol has its own.
    [[nodiscard]] std::optional<float> scalar() const { return scalar_; }

    /// One value per symbol; empty if one value is for all symbols.
    [[nodiscard]] Values values() const { return values_; }

private:
    std::optional<float> scalar_;
    Values values_;
};

}  // namespace detail

/// N0, with values in host memory; see detail::NoiseVarianceIn.
using NoiseVariance = detail::NoiseVarianceIn<detail::HostMemory>;

}  // namespace phy
