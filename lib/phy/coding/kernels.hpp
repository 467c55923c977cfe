#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/coding/ldpc_plan.hpp"

/// The loops of a decoder on a host.
///
/// A code block is decoded in columns of `column_stride` bytes, one for each column of the base graph. Check
/// i of a row takes the bits at one and the same place i of its columns: each column is stored from the bit
/// on that its last layer has shifted there, and turned further when the next layer reads it. For that, a
/// column has room for its bits twice.
namespace phy::detail {

inline constexpr std::size_t max_vector_bytes = 64;

/// LLRs are in sixths of a nat, the default of LlrConfig::scale.
inline constexpr float units_per_nat = 6.0F;
inline constexpr std::int8_t known_zero = 127;     ///< the LLR of a filler bit
inline constexpr std::uint8_t no_magnitude = 143;  ///< of no input: 15 above those of inputs
inline constexpr std::uint8_t max_message = 63;    ///< so that no message turns a certain bit around

/// Whole vectors of Z bytes.
constexpr std::size_t message_stride(std::size_t lifting_size) {
    return (lifting_size + max_vector_bytes - 1) / max_vector_bytes * max_vector_bytes;
}
constexpr std::size_t column_stride(std::size_t lifting_size) {
    return message_stride(2 * lifting_size) + max_vector_bytes;
}

/// Bits of a column that are known to be 0: from `first` to its end.
struct FillerBits {
    std::uint32_t column;
    std::uint32_t first;
};

struct DecoderKernels {
    /// Processes all layers once. posteriors: a column_stride() per column, whose bits begin with that of
    /// LdpcPlan::frames. messages: a message_stride() per edge; 0 at first.
    void (*iterate)(const LdpcPlan& plan, std::span<const FillerBits> fillers, std::int8_t* posteriors,
                    std::int8_t* messages);

    /// Whether the signs of posteriors satisfy all checks.
    bool (*satisfies)(const LdpcPlan& plan, std::int8_t* posteriors);

    /// (symbols, per_symbol) soft bits to (per_symbol, symbols), within +-limit.
    void (*deinterleave)(const std::int8_t* in, std::size_t symbols, std::size_t per_symbol,
                         std::int8_t limit, std::int8_t* out);
};

}  // namespace phy::detail
