#pragma once

#include <optional>
#include <string>

#include "common/app.hpp"
#include "phy/capture/capture.hpp"
#include "phy/files/options.hpp"
#include "phy/receiver/link.hpp"
#include "phy/scrambling/gold_sequence.hpp"

namespace phy::apps {

/// Adds --dataset, --from, --interleaved, --raw, --shape, --external-files, --full-scale and --modulation.
void add_capture_options(CaptureOptions& options, po::options_description& list);

/// Adds --range and --survey, a file; empty: none.
void add_range_options(std::optional<ItemRange>& range, std::string& survey, po::options_description& list);

/// Without --from, a raw file with a link that has a sample rate is one of samples, unless its name is that
/// of a kind.
void choose_kind(CaptureOptions& options, const std::string& file, const std::optional<Link>& link);

/// Parses --gain: a number, or none for "auto". Throws ArgumentError otherwise.
std::optional<float> parse_gain(const std::string& text);

/// Parses n_RNTI,n_ID or n_RNTI,n_ID,q, each decimal or, after 0x, hexadecimal. Throws ArgumentError, which
/// names the option, for anything else.
ScramblingIdentity parse_scrambling(const char* option, const std::string& text);

}  // namespace phy::apps
