#pragma once

#include <span>

#include "phy/demapper/stage.hpp"

namespace phy::apps {

/// So many symbols at the beginning and at the end are looked at.
inline constexpr std::size_t checked_symbols = 4096;

/// Overwrites the soft bits that are looked at, so that those of an earlier run do not pass for others.
void spoil_soft_bits(const SoftDemapStage& stage, std::span<std::byte> soft_bits);

/// Throws Error if the soft bits of those symbols are not what SoftDemapper gives on the scalar backend.
void check_soft_bits(const SoftDemapStage& stage, std::span<const std::byte> symbols,
                     std::span<const std::byte> soft_bits);

}  // namespace phy::apps
