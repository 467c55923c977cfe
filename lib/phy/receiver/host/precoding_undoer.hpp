#pragma once

#include <cstddef>
#include <span>

#include "phy/core/format.hpp"
#include "phy/equalizer/equalizer.hpp"
#include "phy/machine/host.hpp"
#include "phy/ofdm/transform_precoder.hpp"

namespace phy::detail {

/// Equalised subcarriers of OFDM symbols with transform precoding to symbols of the codeword: see
/// undo_precoding-inl.h. The threads of the host share a call. One call at a time.
class PrecodingUndoer {
public:
    PrecodingUndoer(const Host& host, std::size_t subcarriers, Equalization equalization);

    /// Both arrays are (OFDM symbols, subcarriers), and are replaced. Allocates nothing.
    void operator()(std::span<cf32> symbols, std::span<float> noise_variance);

private:
    Host host_;
    std::size_t subcarriers_;
    bool mmse_;
    TransformPrecoder undo_;
};

}  // namespace phy::detail
