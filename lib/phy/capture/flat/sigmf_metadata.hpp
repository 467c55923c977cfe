#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "phy/capture/element_type.hpp"
#include "phy/capture/flat/flat_file.hpp"
#include "phy/capture/iq_layout.hpp"

namespace phy::detail {

/// The metadata of a SigMF recording that phy uses.
struct SigmfMetadata {
    /// A capture segment: from its first sample to that of the next segment.
    struct Segment {
        std::uint64_t first = 0;                         ///< index of its first sample in each channel
        std::uint64_t header_bytes = 0;                  ///< bytes before it in the file of samples
        std::optional<std::uint64_t> global_index = {};  ///< index of its first sample in the whole signal
        Attributes attributes = {};
    };

    ElementType type;
    std::uint64_t channels = 1;
    std::uint64_t trailing_bytes = 0;
    std::string dataset;            ///< name of the file of samples; empty: the default
    Dimensions shape;               ///< phy:shape; empty: one dimension
    std::vector<Segment> segments;  ///< at least one; the first begins at sample 0
};

/// Reads JSON: core:datatype, core:num_channels, core:sample_rate, core:dataset, core:trailing_bytes,
/// core:offset; in captures core:sample_start, core:frequency, core:header_bytes and core:global_index; and
/// phy:modulation, phy:noise_variance, phy:full_scale and phy:link, for the recording or for a capture.
/// Ignores other keys. Throws ArgumentError.
SigmfMetadata parse_sigmf_metadata(std::string_view text);

}  // namespace phy::detail
