#pragma once

#include "phy/coding/stage.hpp"
#include "phy/core/demapper_config.hpp"
#include "phy/machine/host.hpp"

namespace phy::detail {

/// N0 that stands for no noise.
inline constexpr double hardly_any_noise = 1e-5;

/// True if a transport block of random bits, sent alone with noise of this N0, decodes. UCI that punctures it
/// is not sent.
bool block_decodes(const Host& host, const TransportDecoderStage::Config& decode, const LlrConfig& llr,
                   double noise_variance);

}  // namespace phy::detail
