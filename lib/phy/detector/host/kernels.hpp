#pragma once

#include <array>
#include <cstddef>

#include "phy/core/constellation.hpp"
#include "phy/detector/math/plan.hpp"
#include "phy/equalizer/equalizer.hpp"

/// The interface between the detector, which splits a call into blocks and knows formats, and the code that
/// is compiled once per instruction set.
namespace phy::detail {

struct DetectorKernels {
    /// Writes the soft bits of `count` pairs as binary32, or as int8. priors: LLRs in nats, like them, or
    /// null.
    using ToFloats = void (*)(const LayerPair* pairs, const float* priors, std::size_t count, LlrRange range,
                              float* out);
    using ToBytes = void (*)(const LayerPair* pairs, const float* priors, std::size_t count, LlrRange range,
                             std::int8_t* out);

    // By bits per axis - 1.
    std::array<ToFloats, max_axis_bits> to_floats;
    std::array<ToBytes, max_axis_bits> to_bytes;
};

}  // namespace phy::detail
