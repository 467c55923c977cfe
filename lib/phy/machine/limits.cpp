#include "phy/machine/limits.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "phy/machine/host.hpp"

namespace phy {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> parts_of(const std::string& text, char separator) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, separator);)
        parts.push_back(part);
    return parts;
}

bool has(const std::string& list, std::string_view word) {
    const std::vector<std::string> words = parts_of(list, ',');
    return std::ranges::find(words, word) != words.end();
}

/// A control group of a process.
struct Membership {
    std::string controllers;  ///< separated by commas; empty: version 2
    std::string group;
};

/// Lines such as "4:cpu,cpuacct:/group" (version 1) and "0::/group" (version 2).
std::vector<Membership> memberships_of(const fs::path& file) {
    std::vector<Membership> memberships;
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        memberships.push_back({line.substr(first + 1, second - first - 1), line.substr(second + 1)});
    }
    return memberships;
}

int processors_of_affinity() {
    constexpr std::size_t max_sets = 1024;  // of 1024 processors each
    for (std::size_t count = 1; count <= max_sets; count *= 2) {
        std::vector<cpu_set_t> sets(count);
        const std::size_t bytes = count * sizeof(cpu_set_t);
        if (sched_getaffinity(0, bytes, sets.data()) == 0) return CPU_COUNT_S(bytes, sets.data());
        if (errno != EINVAL) break;  // EINVAL: the kernel's set is larger
    }
    return static_cast<int>(std::thread::hardware_concurrency());
}

std::string first_line(const fs::path& file) {
    std::string line;
    std::ifstream stream(file);
    std::getline(stream, line);
    return line;
}

/// The positive number in a text; 0 for other texts, such as "max" and -1.
std::int64_t positive_number(std::string_view text) {
    std::int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto result = std::from_chars(text.data(), end, number);
    return result.ec == std::errc() && result.ptr == end && number > 0 ? number : 0;
}

using Quota = std::optional<int>;

Quota processors_for(std::string_view quota, std::string_view period) {
    const std::int64_t time = positive_number(quota);
    const std::int64_t every = positive_number(period);
    if (time == 0 || every == 0) return std::nullopt;
    const std::int64_t processors = time / every + (time % every == 0 ? 0 : 1);
    return static_cast<int>(std::min<std::int64_t>(processors, std::numeric_limits<int>::max()));
}

Quota quota_of_version_1(const fs::path& group) {
    return processors_for(first_line(group / "cpu.cfs_quota_us"), first_line(group / "cpu.cfs_period_us"));
}

Quota quota_of_version_2(const fs::path& group) {
    const std::string line = first_line(group / "cpu.max");
    const std::size_t space = line.find(' ');
    if (space == std::string::npos) return std::nullopt;
    return processors_for(std::string_view(line).substr(0, space), std::string_view(line).substr(space + 1));
}

Quota smaller(Quota one, Quota other) {
    if (!one || !other) return one ? one : other;
    return std::min(*one, *other);
}

/// The smallest quota of a group and its ancestors.
Quota smallest_quota(const fs::path& root, std::string_view group, Quota (*quota_of)(const fs::path&)) {
    Quota smallest;
    for (;;) {
        while (group.starts_with('/'))
            group.remove_prefix(1);
        smallest = smaller(smallest, quota_of(root / group));
        if (group.empty()) return smallest;
        const std::size_t slash = group.rfind('/');
        group = slash == std::string_view::npos ? std::string_view() : group.substr(0, slash);
    }
}

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// How a version of control groups limits memory.
struct Version {
    std::string_view file_system;
    std::string_view limit;
    bool has_controllers;  ///< each controller has its own hierarchy
};

constexpr Version version_1 = {"cgroup", "memory.limit_in_bytes", true};
constexpr Version version_2 = {"cgroup2", "memory.max", false};

/// Where a hierarchy is mounted, and which of its groups is mounted there.
struct Mount {
    std::string group;
    std::string folder;
};

/// Parses lines of mountinfo: "... root mount_point options [more ...] - type source options", see proc(5).
std::vector<Mount> mounts_of(const fs::path& root, const Version& version) {
    constexpr std::size_t root_field = 3;
    std::vector<Mount> mounts;
    std::ifstream file(root / "proc/self/mountinfo");
    for (std::string line; std::getline(file, line);) {
        const std::vector<std::string> fields = parts_of(line, ' ');
        const auto dash = static_cast<std::size_t>(std::ranges::find(fields, "-") - fields.begin());
        if (dash < root_field + 2 || dash + 3 >= fields.size()) continue;
        if (fields[dash + 1] != version.file_system) continue;
        if (version.has_controllers && !has(fields[dash + 3], "memory")) continue;
        mounts.push_back({fields[root_field], fields[root_field + 1]});
    }
    return mounts;
}

std::string group_of(const fs::path& root, const Version& version) {
    for (const Membership& each : memberships_of(root / "proc/self/cgroup"))
        if (version.has_controllers ? has(each.controllers, "memory") : each.controllers.empty())
            return each.group;
    return {};
}

/// Version 2 writes "max" if there is no limit.
std::uint64_t read_limit(const fs::path& file) {
    std::ifstream stream(file);
    std::uint64_t limit = 0;
    return stream >> limit ? limit : unlimited;
}

/// The smallest limit of the process's group and its visible ancestors, in bytes.
std::uint64_t limit_of(const fs::path& root, const Version& version) {
    const std::string group = group_of(root, version);
    std::uint64_t least = unlimited;
    for (const Mount& mount : mounts_of(root, version)) {
        const fs::path top = root / fs::path(mount.folder).relative_path();
        // In a container the group may lie outside the mount: use the group at the top instead.
        const fs::path below = fs::path(group).lexically_relative(mount.group);
        const bool is_inside = !below.empty() && *below.begin() != "..";
        fs::path folder = top;
        least = std::min(least, read_limit(folder / version.limit));
        for (const fs::path& part : is_inside ? below : fs::path()) {
            folder /= part;
            least = std::min(least, read_limit(folder / version.limit));
        }
    }
    return least;
}

}  // namespace

namespace detail {

Quota cpu_quota(const fs::path& membership, const fs::path& root) {
    Quota smallest;
    for (const auto& [controllers, group] : memberships_of(membership)) {
        if (controllers.empty()) {
            for (const fs::path& mount : {root, root / "unified"})
                smallest = smaller(smallest, smallest_quota(mount, group, quota_of_version_2));
        } else if (has(controllers, "cpu")) {
            for (const fs::path& mount : {root / "cpu", root / controllers})
                smallest = smaller(smallest, smallest_quota(mount, group, quota_of_version_1));
        }
    }
    return smallest;
}

int usable_processors() {
    const int processors = processors_of_affinity();
    return std::max(
        1, std::min(processors, cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup").value_or(processors)));
}

std::uint64_t control_group_limit(const fs::path& root) {
    return std::min(limit_of(root, version_1), limit_of(root, version_2));
}

}  // namespace detail

std::uint64_t machine_memory() {
    const auto pages = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES));
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    return std::min(pages * page, detail::control_group_limit("/"));
}

}  // namespace phy
