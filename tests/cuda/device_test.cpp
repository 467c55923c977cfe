#include "phy/cuda/device.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "phy/core/backend.hpp"
#include "phy/cuda/architectures.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/stream.hpp"
#include "support/contexts.hpp"
#include "support/environment_variable.hpp"
#include "support/gpu.hpp"

namespace {

using phy::Backend;
using phy::gpu::CurrentDevice;
using phy::gpu::Device;
using phy::gpu::Stream;
using phy_test::BackendVariable;

std::vector<Backend> cuda_backends() {
    std::vector<Backend> list = Backend::all();
    list.erase(std::remove_if(list.begin(), list.end(),
                              [](const Backend& backend) { return backend.kind() != Backend::Kind::cuda; }),
               list.end());
    return list;
}

TEST(Architectures, CoverWhatTheirCodeRunsOn) {
    using phy::detail::architecture_covers;
    EXPECT_TRUE(architecture_covers("80-real", 80));
    EXPECT_TRUE(architecture_covers("80-real", 86));
    EXPECT_FALSE(architecture_covers("80-real", 75));
    EXPECT_FALSE(architecture_covers("80-real", 90));
    EXPECT_FALSE(architecture_covers("86-real", 80));
    EXPECT_TRUE(architecture_covers("80-virtual", 120));
    EXPECT_TRUE(architecture_covers("80", 90));
    EXPECT_FALSE(architecture_covers("80", 75));
    EXPECT_TRUE(architecture_covers("90a-real", 90));
    EXPECT_FALSE(architecture_covers("90a", 100));
    EXPECT_TRUE(architecture_covers("100f", 103));
    EXPECT_FALSE(architecture_covers("100f", 120));
    EXPECT_TRUE(architecture_covers("all-major", 90));
}

TEST(Architectures, AnyOfAListWillDo) {
    using phy::detail::architectures_cover;
    const std::string list = "75-real 80-real 120";
    for (const int covered : {75, 80, 89, 120, 130})
        EXPECT_TRUE(architectures_cover(list, covered)) << covered;
    for (const int not_covered : {70, 90, 100})
        EXPECT_FALSE(architectures_cover(list, not_covered)) << not_covered;
    EXPECT_FALSE(architectures_cover("", 90));
}

TEST(CudaError, TellsNameTextAndPlace) {
    const int line = __LINE__ + 2;
    try {
        phy::gpu::check(cudaErrorMemoryAllocation);
        ADD_FAILURE() << "an error code passed";
    } catch (const phy::gpu::CudaError& error) {
        EXPECT_EQ(error.code(), cudaErrorMemoryAllocation);
        EXPECT_TRUE(error.out_of_memory());
        const std::string text = error.what();
        for (const std::string& word :
             {std::string("cudaErrorMemoryAllocation"), std::string("out of memory"),
              "device_test.cpp:" + std::to_string(line)})
            EXPECT_NE(text.find(word), std::string::npos) << text;
        EXPECT_EQ(text.find('/'), std::string::npos) << text;
    }
    EXPECT_FALSE(phy::gpu::CudaError(cudaErrorInvalidValue).out_of_memory());
    EXPECT_NO_THROW(phy::gpu::check(0));
}

TEST(NoDevice, IsExplained) {
    if (!Device::all().empty()) GTEST_SKIP() << "there is a device";
    EXPECT_NE(Device::why_not(), "");
    for (const int ordinal : {0, 1, -1}) {
        try {
            const Device device(ordinal);
            ADD_FAILURE() << "device " << ordinal;
        } catch (const phy::BackendError& error) {
            const std::string text = error.what();
            EXPECT_NE(text.find("CUDA device " + std::to_string(ordinal) + ": "), std::string::npos) << text;
            EXPECT_NE(text.find(Device::why_not()), std::string::npos) << text;
        }
    }
}

TEST(NoDevice, IsNoMatterOfDriversWithoutAGpu) {
    if (Device::installed()) GTEST_SKIP() << "there is a GPU";
    EXPECT_TRUE(Device::all().empty());
    const std::string why = Device::why_not();
    EXPECT_TRUE(why == "no NVIDIA GPU" || why == "no CUDA device") << why;
}

TEST(SomeDevice, IsInstalled) {
    PHY_NEEDS_GPU();
    EXPECT_TRUE(Device::installed());
}

TEST(NoDevice, IsListedAsABackendThatDoesNotRun) {
    if (!Device::all().empty()) GTEST_SKIP() << "there is a device";
    ASSERT_EQ(cuda_backends().size(), 1U);
    const Backend backend = cuda_backends().front();
    EXPECT_EQ(backend.name(), "cuda[0]");
    EXPECT_FALSE(backend.supported());
    EXPECT_EQ(backend.description(), Device::why_not());
    EXPECT_THROW(Backend::parse("cuda"), phy::BackendError);
}

TEST(NoSuchDevice, IsRefused) {
    EXPECT_THROW(Device(9999), phy::BackendError);
    EXPECT_THROW(Device(-1), phy::BackendError);
    EXPECT_THROW(Backend::parse("cuda[9999]"), phy::BackendError);
    EXPECT_THROW(Backend::parse("cuda[99999999999999999999]"), phy::BackendError);
}

TEST(Backends, OfDevicesComeFirstInTheListOfBackends) {
    const auto devices = cuda_backends();
    ASSERT_FALSE(devices.empty());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        EXPECT_EQ(Backend::all()[i], devices[i]);
        EXPECT_EQ(devices[i].device(), static_cast<int>(i));
    }
}

class Devices : public ::testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(Devices, SayWhatTheyAre) {
    for (const Device& device : Device::all()) {
        EXPECT_NE(device.name(), "");
        EXPECT_GE(device.compute_capability(), 75);
        EXPECT_GT(device.multiprocessors(), 0);
        EXPECT_GE(device.shared_memory_per_block(), 48U * 1024U);
        EXPECT_GT(device.free_memory(), 0U);
        EXPECT_LE(device.free_memory(), device.memory());
        EXPECT_EQ(device, Device(device.ordinal()));
        const Backend backend = Backend::parse("cuda[" + std::to_string(device.ordinal()) + "]");
        EXPECT_TRUE(backend.supported());
        EXPECT_NE(backend.description().find(device.name()), std::string::npos);
    }
    EXPECT_NO_THROW(Device(Device::all().front()).synchronize());
}

TEST_F(Devices, BestBackendStaysOnHostMemoryUnlessTheVariableSaysCuda) {
    {
        const BackendVariable unset(nullptr);
        EXPECT_NE(Backend::best().kind(), Backend::Kind::cuda);
        EXPECT_EQ(Backend::forced(), std::nullopt);
    }
    const BackendVariable cuda("cuda");
    EXPECT_EQ(Backend::best().name(), "cuda[0]");
    EXPECT_EQ(Backend::forced(), Backend::best());
}

TEST_F(Devices, CurrentOneIsRestored) {
    const auto current = [] {
        int ordinal = -1;
        phy::gpu::check(cudaGetDevice(&ordinal));
        return ordinal;
    };
    const int before = current();
    for (const Device& outside : Device::all()) {
        const CurrentDevice outer(outside);
        EXPECT_EQ(current(), outside.ordinal());
        for (const Device& inside : Device::all()) {
            {
                const CurrentDevice inner(inside);
                EXPECT_EQ(current(), inside.ordinal());
            }
            EXPECT_EQ(current(), outside.ordinal());
            EXPECT_NO_THROW(Stream(inside).synchronize());
            EXPECT_EQ(current(), outside.ordinal());
        }
    }
    EXPECT_EQ(current(), before);
}

TEST(DevicesDeathTest, WorkOnOneMakesNoContextOnAnother) {
    PHY_NEEDS_GPU();
    phy_test::expect_context_on_last_device_alone([](const Device& device) {
        const Stream stream(device);
        const std::vector<int> sent = {3, 1, 4, 1, 5};
        phy::gpu::DeviceBuffer<int> buffer(device, sent.size());
        std::vector<int> received(sent.size());
        {
            const CurrentDevice current(device);
            copy_async(buffer, sent, stream);
            copy_async(received, buffer, stream);
        }
        const phy::gpu::Event event(device);
        event.record(stream);
        event.delay(stream);
        event.synchronize();
        stream.synchronize();
        if (received != sent || device.free_memory() == 0) std::_Exit(2);
    });
}

}  // namespace
