#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

/// The processors and memory that this process may use.
namespace phy::detail {

/// Number of processors that the calling thread may use: those in its affinity, limited by the CPU quota of
/// its control groups (rounded up). At least 1.
int usable_processors();

/// The smallest CPU quota of a process's control groups (version 1 and 2) and their ancestors, in processors,
/// rounded up. None without a quota. Unreadable and malformed files count as no quota. membership: a file
/// like /proc/self/cgroup. root: a folder like /sys/fs/cgroup.
std::optional<int> cpu_quota(const std::filesystem::path& membership, const std::filesystem::path& root);

/// The smallest memory limit of this process's control groups, in bytes; the largest number without a limit.
/// root: the folder that stands for "/".
std::uint64_t control_group_limit(const std::filesystem::path& root);

}  // namespace phy::detail
