#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/machine/host.hpp"
#include "phy/receiver/link.hpp"

namespace phy {

/// What a search for the scrambling and the coding of codewords found.
struct PHY_EXPORT FoundCoding {
    ScramblingIdentity scrambling;
    /// With the same code blocks, which codewords do not tell apart: the link's own coding, or all that
    /// differ from it in as few values as possible.
    std::vector<LinkCoding> codings = {};
    int proofs = 0;     ///< codewords with a code block whose CRC holds
    int codewords = 0;  ///< that were looked at with it

    friend bool operator==(const FoundCoding&, const FoundCoding&) = default;
};

/// Finds scrambling and coding of codewords whose link is right otherwise, by the CRC of their first code
/// block: all redundancy versions and codeword numbers of the link's identity; all code rates of the MCS
/// tables with the link's modulation, each overhead and redundancy version; then all n_ID, then all RNTIs.
///
/// link: with coding. A transport block size that it gives is tried, and those of TS 38.214. llr: (codewords,
/// bits) soft bits, with those of UCI, in `scale` steps per nat, descrambled with the link's identity. The
/// first codeword is decoded 67,000 times, some microseconds each; others prove what it shows, and must where
/// code blocks are shorter than 256 bits: some of these hold by chance. Nothing is found in soft bits that a
/// decoder cannot decode in ten iterations, and after a stop. Throws ArgumentError for a link without coding,
/// and unless llr are whole codewords.
[[nodiscard]] PHY_EXPORT std::optional<FoundCoding> find_coding(const Host& host, const Link& link,
                                                                std::span<const std::int8_t> llr, float scale,
                                                                const std::stop_token& stop = {});

}  // namespace phy
