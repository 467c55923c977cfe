#include "common/load.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "common/median.hpp"
#include "support/temporary_directory.hpp"

namespace phy::test {
namespace {

using apps::load_warning;
using apps::MachineState;

bool is_quiet(double load_average, int runnable, int processors) {
    return load_warning({load_average, runnable, processors}).empty();
}

TEST(LoadWarning, IsOfOtherThreadsForAMinuteAndNow) {
    EXPECT_TRUE(is_quiet(0.0, 1, 2));
    EXPECT_TRUE(is_quiet(2.0, 1, 2)) << "work that has ended";
    EXPECT_TRUE(is_quiet(0.1, 4, 2)) << "work of a moment";
    EXPECT_FALSE(is_quiet(1.0, 2, 2));
    EXPECT_EQ(load_warning({3.514, 5, 2}),
              "times may be too long: other programs use processors (load average 3.51 on 2 processors)");
}

TEST(LoadWarning, AllowsATenthOfTheProcessorsAndHalfOfOne) {
    EXPECT_TRUE(is_quiet(0.5, 2, 1));
    EXPECT_FALSE(is_quiet(0.51, 2, 1));
    EXPECT_TRUE(is_quiet(6.4, 11, 64));
    EXPECT_TRUE(is_quiet(64.0, 7, 64));
    EXPECT_FALSE(is_quiet(6.5, 8, 64));
}

TEST(LoadWarning, IsOfProcessorsWhoseFrequencyVaries) {
    EXPECT_EQ(load_warning({0.0, 1, 2, "performance"}), "");
    EXPECT_EQ(load_warning({0.0, 1, 2, "powersave"}),
              "times may be too long: the frequency of processors varies (governor powersave, expected "
              "performance)");
    const std::string both = load_warning({2.0, 4, 2, "powersave"});
    EXPECT_NE(both.find("load average 2.00"), std::string::npos) << both;
    EXPECT_NE(both.find(", and the frequency"), std::string::npos) << both;
}

class ReadMachineState : public testing::Test {
protected:
    void put(const std::string& file, const std::string& text) const {
        const std::filesystem::path path = directory_ / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    [[nodiscard]] MachineState read() const { return apps::read_machine_state(directory_.path()); }

private:
    phy_test::TemporaryDirectory directory_;
};

TEST_F(ReadMachineState, TakesWhatTheKernelShows) {
    put("proc/loadavg", "3.51 1.73 0.70 4/215 4711\n");
    put("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "schedutil\n");
    const MachineState state = read();
    EXPECT_EQ(state.load_average, 3.51);
    EXPECT_EQ(state.runnable, 4);
    EXPECT_GE(state.processors, 1);
    EXPECT_EQ(state.governor, "schedutil");
}

TEST_F(ReadMachineState, WithoutFilesOrWithWrongOnesWarnsOfNothing) {
    EXPECT_EQ(load_warning(read()), "");
    for (const std::string text : {"", "x", "9.0", "9.0 9.0 9.0 x/y"}) {
        put("proc/loadavg", text);
        EXPECT_EQ(load_warning(read()), "") << text;
    }
}

TEST(Quartiles, LeaveOutAsManyValuesBelowAsAbove) {
    const auto expect = [](const std::vector<double>& values, double lower, double median, double upper) {
        const apps::Quartiles found = apps::quartiles(values);
        EXPECT_EQ(found.lower, lower) << values.size() << " values";
        EXPECT_EQ(found.median, median) << values.size() << " values";
        EXPECT_EQ(found.upper, upper) << values.size() << " values";
    };
    expect({7}, 7, 7, 7);
    expect({9, 5}, 5, 9, 9);
    expect({4, 1, 3, 2}, 2, 3, 3);
    expect({5, 11, 1, 10, 2, 9, 3, 8, 4, 7, 6}, 3, 6, 9);
    EXPECT_DOUBLE_EQ(apps::quartiles({5, 11, 1, 10, 2, 9, 3, 8, 4, 7, 6}).spread_percent(), 100.0);
}

}  // namespace
}  // namespace phy::test
