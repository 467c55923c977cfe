#include "phy/machine/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace phy::detail {
namespace {

namespace fs = std::filesystem;

int processors_of_affinity() {
    constexpr std::size_t max_sets = 1024;  // of 1024 processors each
    for (std::size_t count = 1; count <= max_sets; count *= 2) {
        std::vector<cpu_set_t> sets(count);
        const std::size_t bytes = count * sizeof(cpu_set_t);
        if (sched_getaffinity(0, bytes, sets.data()) == 0) return CPU_COUNT_S(bytes, sets.data());
        if (errno != EINVAL) break;  // EINVAL: the kernel's set is greater
    }
    return static_cast<int>(std::thread::hardware_concurrency());
}

std::string first_line(const fs::path& file) {
    std::string line;
    std::ifstream stream(file);
    std::getline(stream, line);
    return line;
}

/// 0 for what is no positive number, "max" and -1 among them.
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

/// Looks at a group and at all that it lies in.
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

bool holds_cpu(std::string_view controllers) {
    while (!controllers.empty()) {
        const std::size_t comma = std::min(controllers.find(','), controllers.size());
        if (controllers.substr(0, comma) == "cpu") return true;
        controllers.remove_prefix(std::min(comma + 1, controllers.size()));
    }
    return false;
}

}  // namespace

Quota cpu_quota(const fs::path& membership, const fs::path& root) {
    Quota smallest;
    std::ifstream lines(membership);
    // "4:cpu,cpuacct:/group" of version 1, "0::/group" of version 2.
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(':');
        const std::size_t second = colon == std::string::npos ? colon : line.find(':', colon + 1);
        if (second == std::string::npos) continue;
        const std::string controllers = line.substr(colon + 1, second - colon - 1);
        const std::string_view group = std::string_view(line).substr(second + 1);
        if (controllers.empty()) {
            for (const fs::path& mount : {root, root / "unified"})
                smallest = smaller(smallest, smallest_quota(mount, group, quota_of_version_2));
        } else if (holds_cpu(controllers)) {
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

}  // namespace phy::detail
