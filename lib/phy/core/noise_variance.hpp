#pragma once

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "phy/core/view.hpp"

namespace phy {

namespace detail {

/// N0, the variance E|n|^2 of the complex noise on symbols of unit mean power: either one for all symbols of
/// a call or one a symbol, as an MMSE equaliser delivers it. Refers to the caller's array; holds none.
template <class Memory>
class NoiseVarianceIn {
public:
    using Values = typename Memory::template Span<const float>;

    NoiseVarianceIn(float all_symbols) : scalar_(all_symbols) {}

    /// Any contiguous range of floats in this memory converts.
    template <typename Range, typename T = typename Memory::template Element<Range>>
    requires std::same_as < std::remove_const_t<T>,
    float > NoiseVarianceIn(Range&& per_symbol) : values_(Memory::span_of(std::forward<Range>(per_symbol))) {}

    [[nodiscard]] bool is_per_symbol() const { return !scalar_.has_value(); }

    /// The one for all symbols; none where each has its own.
    [[nodiscard]] std::optional<float> scalar() const { return scalar_; }

    /// One a symbol; empty where one serves all.
    [[nodiscard]] Values values() const { return values_; }

private:
    std::optional<float> scalar_;
    Values values_;
};

}  // namespace detail

/// N0, with values in host memory; see detail::NoiseVarianceIn.
using NoiseVariance = detail::NoiseVarianceIn<detail::HostMemory>;

}  // namespace phy
