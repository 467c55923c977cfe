#include "phy/machine/control_group.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace phy {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// What of the control groups of a version limits memory.
struct Version {
    std::string_view file_system;
    std::string_view limit;
    bool has_controllers;  ///< each with a hierarchy of its own
};

constexpr Version version_1 = {"cgroup", "memory.limit_in_bytes", true};
constexpr Version version_2 = {"cgroup2", "memory.max", false};

/// Where a hierarchy of groups is mounted, and which of its groups stands there.
struct Mount {
    std::string group;
    std::string folder;
};

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

/// Lines of mountinfo: "... root mount_point options [more ...] - type source options", see proc(5).
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

/// Lines of cgroup: "number:controllers:group"; in version 2 the number is 0 and there are no controllers.
std::string group_of(const fs::path& root, const Version& version) {
    std::ifstream file(root / "proc/self/cgroup");
    for (std::string line; std::getline(file, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (version.has_controllers ? has(controllers, "memory") : line.starts_with("0::"))
            return line.substr(second + 1);
    }
    return {};
}

/// "max", of version 2, is no number.
std::uint64_t read_limit(const fs::path& file) {
    std::ifstream stream(file);
    std::uint64_t limit = 0;
    return stream >> limit ? limit : unlimited;
}

/// Of a group and all above it that can be seen.
std::uint64_t limit_of(const fs::path& root, const Version& version) {
    const std::string group = group_of(root, version);
    std::uint64_t least = unlimited;
    for (const Mount& mount : mounts_of(root, version)) {
        const fs::path top = root / fs::path(mount.folder).relative_path();
        // A group outside of what is mounted, as a container may see it, is taken for the one at the top.
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

std::uint64_t detail::control_group_limit(const fs::path& root) {
    return std::min(limit_of(root, version_1), limit_of(root, version_2));
}

}  // namespace phy
