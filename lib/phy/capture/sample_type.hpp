#pragma once

#include <optional>
#include <string_view>

#include "phy/capture/element_type.hpp"

namespace phy::detail {

/// What parse_sample_type() takes, for messages.
inline constexpr std::string_view expected_sample_type =
    "one of cf64, cf32, cf16, ci32, ci16, ci8, cu32, cu16, cu8, or with r for c of real samples, and with "
    "_le or _be";

/// The samples that a type as SigMF's core:datatype means; without _le or _be they are little-endian. float16
/// is not SigMF's. Empty for another name.
std::optional<ElementType> parse_sample_type(std::string_view name);

/// Numbers without sign are stored as those of parse_sample_type() are: with half of their range added.
std::optional<NumberType> parse_number_type(std::string_view name, std::endian order);

/// An element of I and Q, one after the other.
ElementType pair_type(NumberType number, std::string_view text);

}  // namespace phy::detail
