#pragma once

#include <cstdint>
#include <filesystem>

namespace phy::detail {

/// The least limit of memory of the control groups that this process is in; the largest number without. root
/// is a folder that stands for "/".
std::uint64_t control_group_limit(const std::filesystem::path& root);

}  // namespace phy::detail
