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

/// What the metadata of a SigMF recording says of its samples.
struct SigmfMetadata {
    /// From a sample on, until that of the next segment.
    struct Segment {
        std::uint64_t first = 0;                         ///< index of its first sample, of each channel
        std::uint64_t header_bytes = 0;                  ///< before it in the file of samples
        std::optional<std::uint64_t> global_index = {};  ///< where its first sample was in the whole signal
        Attributes attributes = {};
    };

    ElementType type;
    std::uint64_t channels = 1;
    std::uint64_t trailing_bytes = 0;
    std::string dataset;            ///< name of the file of samples; empty: the usual one
    Dimensions shape;               ///< phy:shape; empty: one dimension
    std::vector<Segment> segments;  ///< at least one, the first from sample 0 on
};

/// Reads JSON: core:datatype, core:num_channels, core:sample_rate, core:dataset, core:trailing_bytes,
/// core:offset, of captures core:sample_start, core:frequency, core:header_bytes and core:global_index; and
/// as attributes phy:modulation, phy:noise_variance, phy:full_scale and phy:link of all or of a capture.
/// Other keys may be there. Throws ArgumentError.
SigmfMetadata parse_sigmf_metadata(std::string_view text);

}  // namespace phy::detail
