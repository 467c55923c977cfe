#pragma once

#include <cstdint>
#include <span>

#include "phy/core/view.hpp"
#include "phy/measure/soft_bit_sums.hpp"
#include "phy/measure/symbol_sums.hpp"

namespace phy::apps {

/// Sums over what a receiver has made of slots.
struct LinkSums {
    SymbolSums symbols;        ///< against the symbols that were sent
    SoftBitSums soft_bits;     ///< against the bits that were sent
    double information = 0.0;  ///< see information()

    friend bool operator==(const LinkSums&, const LinkSums&) = default;
};

/// Of two neighbours, the left one first.
LinkSums join(const LinkSums& left, const LinkSums& right);

/// How many bits the soft bits tell of the bits that were sent, one a byte: the sum of
/// 1 - log2(1 + exp(-(1 - 2 b) L)). For exact ratios L its mean is the mutual information of a bit and its
/// soft bit; for others it is what a decoder that takes them at their word can use. scale: least significant
/// bits a nat of int8.
double information(SoftBitView soft_bits, float scale, std::span<const std::uint8_t> bits);

}  // namespace phy::apps
