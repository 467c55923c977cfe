#pragma once

#include <cstdint>
#include <filesystem>

#include "phy/core/export.hpp"

namespace phy {

/// Bytes of memory that this process may have: those of the machine, or fewer where a control group (version
/// 1 or 2) limits it, as in a container.
[[nodiscard]] PHY_EXPORT std::uint64_t machine_memory();

namespace detail {

/// The least limit of the control groups that this process is in; the largest number without. root is a
/// folder that stands for "/".
PHY_EXPORT std::uint64_t control_group_limit(const std::filesystem::path& root);

}  // namespace detail
}  // namespace phy
