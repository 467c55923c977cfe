#pragma once

#include <string>

#include "phy/scrambling/gold_sequence.hpp"

namespace phy::apps {

/// Parses n_RNTI,n_ID or n_RNTI,n_ID,q, each decimal or, after 0x, hexadecimal. Throws ArgumentError, which
/// names the option, for anything else.
ScramblingIdentity parse_scrambling(const char* option, const std::string& text);

}  // namespace phy::apps
