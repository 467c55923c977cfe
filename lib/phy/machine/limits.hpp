#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

/// What this process may use of the machine.
namespace phy::detail {

/// How many processors the calling thread may use: those of its affinity, but no more than the CPU time that
/// its control groups grant, rounded up. At least 1.
int usable_processors();

/// The smallest quota of CPU time along the path of a process's control groups, of version 1 and 2, in
/// processors rounded up. None where nothing limits it; files that cannot be read or understood do not.
/// membership: as /proc/self/cgroup. root: as /sys/fs/cgroup.
std::optional<int> cpu_quota(const std::filesystem::path& membership, const std::filesystem::path& root);

/// The least limit of memory of the control groups that this process is in; the largest number without. root
/// is a folder that stands for "/".
std::uint64_t control_group_limit(const std::filesystem::path& root);

}  // namespace phy::detail
