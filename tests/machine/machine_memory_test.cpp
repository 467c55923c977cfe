#include "phy/machine/host.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <limits>
#include <string>

#include <unistd.h>

#include "phy/machine/limits.hpp"
#include "support/temporary_directory.hpp"

namespace {

constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

/// What a machine says of its control groups, in a folder that stands for "/".
class ControlGroups : public testing::Test {
protected:
    void put(const std::string& file, const std::string& text) const {
        const std::filesystem::path path = directory_ / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    /// Of version 2, in a group of a group.
    void put_version_2(const std::string& top, const std::string& upper, const std::string& lower) const {
        put("proc/self/cgroup", "0::/upper/lower\n");
        put("proc/self/mountinfo",
            "22 1 0:20 / /proc rw - proc proc rw\n"
            "30 22 0:26 / /sys/fs/cgroup rw,nosuid shared:9 master:1 - cgroup2 cgroup2 rw,nsdelegate\n");
        if (!top.empty()) put("sys/fs/cgroup/memory.max", top);
        put("sys/fs/cgroup/upper/memory.max", upper);
        put("sys/fs/cgroup/upper/lower/memory.max", lower);
    }

    std::uint64_t limit() const { return phy::detail::control_group_limit(directory_.path()); }

private:
    phy_test::TemporaryDirectory directory_;
};

TEST_F(ControlGroups, NoneLimitNothing) {
    EXPECT_EQ(limit(), unlimited);
    put("proc/self/cgroup", "nonsense\n::\n0::\n4:memory\n");
    put("proc/self/mountinfo", "- cgroup2\n\n1 2 3 4 5 6 -\n1 2 3 / /x rw - cgroup2\n");
    EXPECT_EQ(limit(), unlimited);
}

TEST_F(ControlGroups, OfVersion2TheLeastOnTheWayUpCounts) {
    put_version_2("", "max\n", "max\n");
    EXPECT_EQ(limit(), unlimited);
    put_version_2("", "3000000\n", "max\n");
    EXPECT_EQ(limit(), 3000000U);
    put_version_2("", "3000000\n", "2000000\n");
    EXPECT_EQ(limit(), 2000000U);
    put_version_2("1000000\n", "3000000\n", "2000000\n");
    EXPECT_EQ(limit(), 1000000U);
}

TEST_F(ControlGroups, OfVersion1TheControllerIsMountedAlone) {
    put("proc/self/cgroup", "9:cpu,cpuacct:/other\n4:memory:/box\n0::/\n");
    put("proc/self/mountinfo",
        "32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/box/memory.limit_in_bytes", "4000000\n");
    put("sys/fs/cgroup/cpu/other/memory.limit_in_bytes", "1\n");
    EXPECT_EQ(limit(), 4000000U);
}

// As in a container without a name space of groups: the group's own folder is mounted.
TEST_F(ControlGroups, MountedAtAGroup) {
    put("proc/self/cgroup", "4:memory:/docker/box/inner\n");
    put("proc/self/mountinfo", "35 31 0:32 /docker/box /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "5000000\n");
    EXPECT_EQ(limit(), 5000000U);
    put("sys/fs/cgroup/memory/inner/memory.limit_in_bytes", "4000000\n");
    EXPECT_EQ(limit(), 4000000U);
    put("proc/self/cgroup", "4:memory:/elsewhere\n");
    EXPECT_EQ(limit(), 5000000U);
}

TEST(MachineMemory, IsThatOfTheMachineAtMost) {
    const auto physical = static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                          static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    EXPECT_LE(phy::machine_memory(), physical);
    EXPECT_GT(phy::machine_memory(), 1U << 20U);
}

}  // namespace
