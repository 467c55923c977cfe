#include "phy/machine/limits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <thread>

#include "support/one_processor.hpp"
#include "support/temporary_directory.hpp"

namespace {

namespace fs = std::filesystem;

/// A tree of control groups and a process in it.
class Groups : public testing::Test {
protected:
    void write(const std::string& name, const std::string& text) const {
        const fs::path file = folder_ / name;
        fs::create_directories(file.parent_path());
        std::ofstream(file) << text;
    }
    void remove(const std::string& name) const { fs::remove_all(folder_ / name); }
    void process_is_in(const std::string& groups) const { write("self", groups); }
    [[nodiscard]] std::optional<int> quota() const {
        return phy::detail::cpu_quota(folder_ / "self", folder_ / "root");
    }

private:
    phy_test::TemporaryDirectory folder_;
};

TEST_F(Groups, NothingLimitsWhereNothingCanBeRead) {
    EXPECT_EQ(quota(), std::nullopt);
    process_is_in("0::/a\n1:cpu:/a\n");
    EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(Groups, QuotaOfVersion2IsRoundedUp) {
    process_is_in("0::/a\n");
    write("root/a/cpu.max", "200000 100000\n");
    EXPECT_EQ(quota(), 2);
    write("root/a/cpu.max", "200001 100000\n");
    EXPECT_EQ(quota(), 3);
    write("root/a/cpu.max", "1000 100000\n");
    EXPECT_EQ(quota(), 1);
    write("root/a/cpu.max", "max 100000\n");
    EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(Groups, SmallestOnThePathCountsAndNoOther) {
    process_is_in("0::/a/b/c\n");
    write("root/a/b/c/cpu.max", "500000 100000\n");
    EXPECT_EQ(quota(), 5);
    write("root/a/cpu.max", "150000 50000\n");
    EXPECT_EQ(quota(), 3);
    write("root/a/b/cpu.max", "max 100000\n");
    write("root/a/d/cpu.max", "100000 100000\n");
    EXPECT_EQ(quota(), 3);
    write("root/cpu.max", "200000 100000\n");
    EXPECT_EQ(quota(), 2);
    write("root/a/b/c/cpu.max", "50000 100000\n");
    EXPECT_EQ(quota(), 1);
}

TEST_F(Groups, RootOfAContainerCountsWhereThePathIsOfTheMachine) {
    process_is_in("0::/machine/docker-1234.scope\n");
    write("root/cpu.max", "400000 100000\n");
    EXPECT_EQ(quota(), 4);
    process_is_in("0::/\n");
    EXPECT_EQ(quota(), 4);
}

TEST_F(Groups, QuotaOfVersion1IsThatOfItsCpuController) {
    process_is_in("5:cpuset:/other\n4:cpuacct,cpu:/a/b\n0::/\n");
    write("root/cpu/other/cpu.cfs_quota_us", "100000\n");
    write("root/cpu/other/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota(), std::nullopt);
    for (const std::string mount : {"cpu", "cpuacct,cpu"}) {
        SCOPED_TRACE(mount);
        const std::string group = "root/" + mount + "/a/b/";
        write(group + "cpu.cfs_quota_us", "350000\n");
        EXPECT_EQ(quota(), std::nullopt) << "no period";
        write(group + "cpu.cfs_period_us", "100000\n");
        EXPECT_EQ(quota(), 4);
        write("root/" + mount + "/a/cpu.cfs_quota_us", "-1\n");
        write("root/" + mount + "/a/cpu.cfs_period_us", "100000\n");
        EXPECT_EQ(quota(), 4);
        write("root/" + mount + "/a/cpu.cfs_quota_us", "70000\n");
        EXPECT_EQ(quota(), 1);
        remove("root/" + mount);
    }
}

TEST_F(Groups, BothVersionsTogetherAreLimitedByTheSmaller) {
    process_is_in("1:cpu,cpuacct:/a\n0::/b\n");
    write("root/cpu,cpuacct/a/cpu.cfs_quota_us", "300000\n");
    write("root/cpu,cpuacct/a/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota(), 3);
    write("root/unified/b/cpu.max", "200000 100000\n");
    EXPECT_EQ(quota(), 2);
}

TEST_F(Groups, RubbishDoesNotLimit) {
    process_is_in("0::/a\n");
    for (const char* text : {"", "\n", "max", "100000", "0 100000", "100000 0", "-5 100000", "1e5 100000",
                             "100000 100000 100000", "99999999999999999999 1", " 1 2", "\xff\xfe 3"}) {
        write("root/a/cpu.max", text);
        EXPECT_EQ(quota(), std::nullopt) << text;
    }
    write("root/a/cpu.max", "9000000000000000000 1\n");
    EXPECT_EQ(quota(), std::numeric_limits<int>::max());
    write("root/a/cpu.max", "100000 100000\n");
    for (const char* text : {"", "0:", "::", "rubbish", "0:memory:/a", "\n\n:\n"}) {
        process_is_in(text);
        EXPECT_EQ(quota(), std::nullopt) << text;
    }
    process_is_in("rubbish\n\n0::/a//\n");
    EXPECT_EQ(quota(), 1);
}

TEST(UsableProcessors, AreAtLeastOneAndAtMostThoseOfTheMachine) {
    EXPECT_GE(phy::detail::usable_processors(), 1);
    EXPECT_LE(phy::detail::usable_processors(),
              std::max(1, static_cast<int>(std::thread::hardware_concurrency())));
}

TEST(UsableProcessors, AreOneForAThreadOnOneProcessor) {
    int processors = 0;
    if (!phy_test::on_one_processor([&] { processors = phy::detail::usable_processors(); }))
        GTEST_SKIP() << "a thread cannot be pinned to one processor here";
    EXPECT_EQ(processors, 1);
}

}  // namespace
