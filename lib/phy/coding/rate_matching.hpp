#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "phy/coding/transport_block.hpp"

/// Rate matching of code blocks (TS 38.212 clauses 5.4.2 and 5.5). Places in the circular buffer without
/// filler bits are counted by rank.
namespace phy::detail {

/// Of all code blocks of a transport block. For device and host.
struct RateMatching {
    std::uint32_t buffer = 0;                             ///< N_cb
    std::uint32_t filler_begin = 0;                       ///< in the buffer
    std::uint32_t filler_end = 0;                         ///< within the buffer
    std::uint32_t first_ranks[redundancy_versions] = {};  ///< of bit 0, by redundancy version
    std::uint32_t bits_per_symbol = 0;                    ///< Qm
    std::uint32_t symbols = 0;                            ///< of the first blocks: E = Qm * symbols
    std::uint32_t short_blocks = 0;  ///< those first blocks; others have `more` symbols more
    std::uint32_t more = 0;          ///< N_L

    [[nodiscard]] constexpr std::uint32_t usable() const { return buffer - (filler_end - filler_begin); }

    /// Columns of symbols in code block r: E_r / Qm.
    [[nodiscard]] constexpr std::uint32_t symbols_of(std::size_t r) const {
        return symbols + (r < short_blocks ? 0 : more);
    }
    /// Soft bits of the codeword before code block r.
    [[nodiscard]] constexpr std::size_t bits_before(std::size_t r) const {
        const std::size_t longer = r > short_blocks ? r - short_blocks : 0;
        return bits_per_symbol * (r * symbols + longer * more);
    }
    [[nodiscard]] constexpr std::uint32_t place_of(std::uint32_t rank) const {
        return rank < filler_begin ? rank : rank + (filler_end - filler_begin);
    }
};

RateMatching rate_matching(const TransportBlockConfig& config, const CodeBlocks& blocks);

/// Columns of the base graph that have a bit in the buffer, punctured ones included; never less than the core
/// has.
int buffer_columns(const CodeBlocks& blocks);

/// The same for bits that are sent.
int sent_columns(const RateMatching& matching, const CodeBlocks& blocks, int redundancy_version);

/// LLRs of soft bits end at 10 nats: a message of the decoder corrects any of them, also one of a bit that
/// only one check has.
inline constexpr std::int8_t max_llr = 60;

/// The LLR of a bit that was sent twice.
constexpr std::int8_t combined(std::int8_t a, std::int8_t b) {
    return static_cast<std::int8_t>(std::clamp(a + b, -max_llr, +max_llr));
}

/// Throws ArgumentError unless it is 0 to 3.
void check_redundancy_version(int redundancy_version);

}  // namespace phy::detail
