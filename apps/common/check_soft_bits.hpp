#pragma once

#include <span>

#include "phy/demapper/stage.hpp"

namespace phy::apps {

/// Number of symbols that are checked at the beginning and at the end.
inline constexpr std::size_t checked_symbols = 4096;

/// Overwrites the soft bits that are checked, so that soft bits of an earlier run cannot pass.
void spoil_soft_bits(const SoftDemapStage& stage, std::span<std::byte> soft_bits);

/// Throws Error if these soft bits differ from those of SoftDemapper on the scalar backend.
void check_soft_bits(const SoftDemapStage& stage, std::span<const std::byte> symbols,
                     std::span<const std::byte> soft_bits);

}  // namespace phy::apps
