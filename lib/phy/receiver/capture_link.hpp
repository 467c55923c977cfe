#pragma once

#include <cstdint>
#include <optional>

#include "phy/capture/capture.hpp"
#include "phy/receiver/link.hpp"

namespace phy::detail {

/// The one in the capture's attribute, if it has one. Throws FileError for a text that is no link.
std::optional<Link> link_of(const CaptureDescription& capture);

/// Of the codeword of a slot, in a capture of symbols.
std::uint64_t codeword_symbols(const Link& link);

}  // namespace phy::detail
