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

/// Has a capture of symbols used with what a link says of it, unless the options do: Options::capture, the
/// scrambling named, and Options::codeword_symbols, those of the codeword of a slot. Throws ArgumentError for
/// a link that is none.
template <typename Options>
Options with_link(Options options, std::optional<ScramblingIdentity> Options::*scrambling,
                  const std::optional<Link>& link) {
    if (!link) return options;
    check(*link);
    if (!options.capture.modulation) options.capture.modulation = link->modulation;
    if (options.*scrambling) return options;
    options.*scrambling = link->scrambling;
    options.codeword_symbols = codeword_symbols(*link);
    return options;
}

}  // namespace phy::detail
