#pragma once

#include <cstddef>
#include <optional>

#include "demod/options.hpp"

namespace phy::apps {

/// What is to be demodulated, settled from the options and what the capture says about itself.
struct DemodPlan {
    Modulation modulation = Modulation::qpsk;
    std::optional<float> noise_variance;  ///< none: one a symbol
    bool with_truth = false;              ///< there are bits to compare with
    std::size_t soft_bits_per_symbol = 0;
};

/// Throws FileError for what neither the options nor the capture say.
DemodPlan make_plan(const DemodOptions& options, const CaptureDescription& capture);

}  // namespace phy::apps
