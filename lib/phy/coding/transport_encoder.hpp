#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/coding/transport_block.hpp"
#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// Encodes transport blocks: CRCs, segmentation, LDPC coding, rate matching (TS 38.212 clauses 6.2 and 7.2,
/// without scrambling). The threads of the host share the code blocks. An encoder works for one caller at a
/// time.
class PHY_EXPORT TransportEncoder {
public:
    using Config = TransportBlockConfig;

    /// Throws ArgumentError as code_blocks() does.
    TransportEncoder(const Host& host, const Config& config);

    [[nodiscard]] const CodeBlocks& code_blocks() const;

    /// payload: A / 8 bytes, the first bit of a byte most significant. codeword: G bits, one per byte. Throws
    /// ArgumentError for other sizes and for another redundancy version than 0 to 3. Allocates nothing.
    void operator()(std::span<const std::uint8_t> payload, int redundancy_version,
                    std::span<std::uint8_t> codeword);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "TransportEncoder"> impl_;
};

}  // namespace phy
