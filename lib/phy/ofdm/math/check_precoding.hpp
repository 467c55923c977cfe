#pragma once

#include <cstddef>

#include "phy/ofdm/transform_precoder.hpp"

namespace phy::detail {

/// The number of subcarriers. Throws ArgumentError if a value is out of its range.
std::size_t checked_precoding(const TransformPrecoderConfig& config);

/// Throws ArgumentError unless arrays with these numbers of elements hold whole symbols and are equal in
/// size.
void check_precoding_sizes(std::size_t size, const char* in_name, std::size_t in, const char* out_name,
                           std::size_t out);

/// 1 / sqrt(M)
float precoding_factor(std::size_t size);

}  // namespace phy::detail
