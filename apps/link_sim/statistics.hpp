#pragma once

#include <cstdint>
#include <span>

#include "common/error_rate.hpp"
#include "phy/core/view.hpp"
#include "phy/measure/soft_bit_sums.hpp"
#include "phy/measure/symbol_sums.hpp"

namespace phy::apps {

/// Sums over transport blocks.
struct BlockSums {
    std::uint64_t blocks = 0;
    std::uint64_t errors = 0;  ///< blocks whose CRC fails, or that are not those sent
    std::uint64_t code_blocks = 0;
    std::uint64_t iterations = 0;  ///< of all code blocks

    friend bool operator==(const BlockSums&, const BlockSums&) = default;
};

/// Sums over the slots of a receiver.
struct LinkSums {
    SymbolSums symbols;        ///< against the sent symbols
    SoftBitSums soft_bits;     ///< against the sent bits
    double information = 0.0;  ///< see information()
    BitErrorSums bit_errors;
    BlockSums blocks = {};  ///< none without coding

    friend bool operator==(const LinkSums&, const LinkSums&) = default;
};

/// Joins two neighbours, the left one first.
LinkSums join(const LinkSums& left, const LinkSums& right);

/// Information in soft bits about the sent bits (one per byte), in bits: the sum of 1 - log2(1 + exp(-(1 - 2
/// b) L)). If all L are exact, its mean is the mutual information of a bit and its soft bit. Otherwise it is
/// what a decoder that trusts them can use. scale: steps of int8 per nat.
double information(SoftBitView soft_bits, float scale, std::span<const std::uint8_t> bits);

}  // namespace phy::apps
