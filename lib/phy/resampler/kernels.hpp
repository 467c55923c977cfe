#pragma once

#include <cstddef>

#include "phy/resampler/filter.hpp"

namespace phy::detail {

/// The loops of a host.
struct ResamplerKernels {
    /// Separates components; writes whole vectors.
    void (*split)(const float* pairs, std::size_t count, float* re, float* im);

    /// Outputs from planes whose sample 0 is that of the first tap of an output at position 0. out: pairs at
    /// any address.
    void (*resample)(const Polyphase& filter, const float* re, const float* im, const ResampledRow& row,
                     std::size_t count, void* out);
};

}  // namespace phy::detail
