#pragma once

#include <cstdint>

#include "phy/core/export.hpp"

namespace phy {

/// Bytes of memory that this process may use: the memory of the machine, or less if a control group (version
/// 1 or 2) limits it, as in a container.
[[nodiscard]] PHY_EXPORT std::uint64_t machine_memory();

}  // namespace phy
