#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"

/// How a transport block of PUSCH or PDSCH becomes a codeword (TS 38.212 clauses 6.2 and 7.2).
namespace phy {

/// LDPC base graph 1 and 2 (clause 5.3.2).
enum class BaseGraph : std::uint8_t { bg1, bg2 };

struct PHY_EXPORT TransportBlockConfig {
    std::size_t size = 0;        ///< A: bits of the transport block, a multiple of 8 up to 2^24
    double code_rate = 0.0;      ///< R of the MCS, above 0 and at most 1; chooses the base graph
    std::size_t coded_bits = 0;  ///< G: bits of the codeword, a multiple of layers * Qm
    Modulation modulation = Modulation::qpsk;
    int layers = 1;  ///< N_L, from 1 to 8

    /// TBS_LBRM of clause 5.4.2.1, bits: the transmitter keeps that much of a codeword. None: all.
    std::optional<std::size_t> limited_buffer = {};

    friend bool operator==(const TransportBlockConfig&, const TransportBlockConfig&) = default;
};

/// The code blocks of a transport block (clause 5.2.2).
struct PHY_EXPORT CodeBlocks {
    BaseGraph graph = BaseGraph::bg1;
    int lifting_size = 0;              ///< Z_c
    std::size_t count = 0;             ///< C
    std::size_t bits = 0;              ///< K': of the transport block and of all CRCs, in each code block
    std::size_t information_bits = 0;  ///< K: with filler bits
    std::size_t buffer_size = 0;       ///< N_cb: of the circular buffer
    int transport_block_crc = 0;       ///< L, bits: 16 or 24
    int code_block_crc = 0;            ///< L, bits: 24, or 0 with one code block

    friend bool operator==(const CodeBlocks&, const CodeBlocks&) = default;
};

/// Throws ArgumentError if a value is out of its range, if the codeword has more than 2^31 bits, and for a
/// size whose code blocks would not be of equal length in bytes, which TS 38.214 clause 5.1.3.2 does not
/// give.
[[nodiscard]] PHY_EXPORT CodeBlocks code_blocks(const TransportBlockConfig& config);

inline constexpr int redundancy_versions = 4;

}  // namespace phy
