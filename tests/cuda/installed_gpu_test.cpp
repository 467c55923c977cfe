#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "phy/core/machine.hpp"
#include "support/temporary_directory.hpp"

namespace {

/// What a machine says about its devices, in a folder that stands for "/".
class NvidiaGpu : public testing::Test {
protected:
    void put(const std::string& file, const std::string& text) const {
        const std::filesystem::path path = directory_ / file;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path) << text;
    }

    void put_pci_device(const std::string& slot, const std::string& vendor, const std::string& type) const {
        put("sys/bus/pci/devices/" + slot + "/vendor", vendor + "\n");
        put("sys/bus/pci/devices/" + slot + "/class", type + "\n");
    }

    [[nodiscard]] bool found() const { return phy::detail::has_nvidia_gpu(directory_.path()); }

private:
    phy_test::TemporaryDirectory directory_;
};

TEST_F(NvidiaGpu, IsNotFoundInAMachineWithoutOne) {
    EXPECT_FALSE(found());
    put_pci_device("0000:00:02.0", "0x8086", "0x030000");  // a GPU of Intel
    put_pci_device("0000:01:00.1", "0x10de", "0x040300");  // an audio device of NVIDIA
    put("sys/bus/pci/devices/0000:02:00.0/vendor", "");
    put("dev/nvram", "");
    EXPECT_FALSE(found());
}

TEST_F(NvidiaGpu, IsAPciDeviceOfNvidiaForGraphicsOrCompute) {
    put_pci_device("0000:00:02.0", "0x8086", "0x030000");
    put_pci_device("0000:01:00.0", "0x10de", "0x030000");
    EXPECT_TRUE(found());
}

TEST_F(NvidiaGpu, NeedsNoDisplay) {
    put_pci_device("0000:01:00.0", "0x10de", "0x030200");
    EXPECT_TRUE(found());
}

TEST_F(NvidiaGpu, ShowsInAContainerThatHidesPci) {
    put("dev/nvidiactl", "");
    EXPECT_TRUE(found());
}

}  // namespace
