#include "phy/cuda/memory_resource.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <vector>

#include <cuda_runtime_api.h>

#include "cuda/counting_resource.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/slot_demapper.hpp"
#include "phy/demapper/stage.hpp"
#include "phy/pipeline/memory.hpp"
#include "support/gpu.hpp"

namespace {

using phy::gpu::Device;
using phy::gpu::DeviceBuffer;
using phy_test::CountingResource;
using phy_test::EmptyResource;
using phy_test::ResourceInUse;

TEST(MemoryResource, IsTheOneThatWasSet) {
    const auto before = phy::gpu::memory_resource();
    ASSERT_NE(before, nullptr);
    const auto counting = std::make_shared<CountingResource>();
    EXPECT_EQ(phy::gpu::set_memory_resource(counting), before);
    EXPECT_EQ(phy::gpu::memory_resource(), counting);
    EXPECT_EQ(phy::gpu::set_memory_resource(nullptr), counting);
    EXPECT_NE(phy::gpu::memory_resource(), nullptr);
    EXPECT_NE(phy::gpu::memory_resource(), counting);
    phy::gpu::set_memory_resource(before);
}

class MemoryResources : public testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(MemoryResources, GiveBuffersTheirMemory) {
    const auto counting = std::make_shared<CountingResource>();
    const ResourceInUse scope(counting);
    {
        DeviceBuffer<float> one(Device(), 100);
        const DeviceBuffer<float> other(Device(), 7);
        EXPECT_EQ(counting->allocations(), 2U);
        EXPECT_EQ(counting->lent(), 2U);
        const DeviceBuffer<float> moved = std::move(one);
        one = DeviceBuffer<float>(Device(), 50);
        EXPECT_EQ(counting->lent(), 3U);
        one = {};
        EXPECT_EQ(counting->lent(), 2U);
        const DeviceBuffer<float> nothing(Device(), 0);
        EXPECT_EQ(counting->allocations(), 3U) << "nothing needs no memory";
    }
    EXPECT_EQ(counting->lent(), 0U);
    EXPECT_EQ(counting->mistake(), "");
}

TEST_F(MemoryResources, ServeTheirBuffersToTheEnd) {
    auto counting = std::make_shared<CountingResource>();
    const std::weak_ptr<CountingResource> alive = counting;
    const auto later = std::make_shared<CountingResource>();
    DeviceBuffer<float> buffer;
    {
        const ResourceInUse scope(counting);
        buffer = DeviceBuffer<float>(Device(), 100);
    }
    const ResourceInUse scope(later);
    EXPECT_EQ(counting->lent(), 1U);
    CountingResource* const watched = counting.get();
    counting.reset();
    ASSERT_FALSE(alive.expired()) << "its buffer keeps it";
    EXPECT_EQ(watched->lent(), 1U);
    counting = alive.lock();
    buffer = {};
    EXPECT_EQ(counting->lent(), 0U);
    EXPECT_EQ(counting->mistake(), "");
    EXPECT_EQ(later->allocations(), 0U);
    EXPECT_EQ(later->mistake(), "");
}

/// Everything of phy that has memory on a device, and a run of it.
struct Owner {
    const char* name;
    std::function<void(const Device&)> use;
};

const phy::DemapperConfig by_table = {.modulation = phy::Modulation::qam64,
                                      .llr = {.method = phy::Method::log_map}};

void run_a_pipeline(const Device& device) {
    phy::SoftDemapStage stage({.demapper = by_table, .noise_variance = 0.1F});
    phy::Pipeline pipeline({device}, stage, {.chunk = 100});
    const std::vector<std::byte> symbols(1000 * sizeof(phy::cf32));
    std::vector<std::byte> soft_bits(6000);
    phy::MemorySource source(stage.inputs(), {symbols});
    phy::MemorySink sink(stage.outputs(), {soft_bits});
    EXPECT_EQ(pipeline.run(source, sink).items, 1000U);
}

const Owner owners[] = {
    {"soft demapper",
     [](const Device& device) {
         phy::gpu::SoftDemapper(device, by_table).prepare(0.1F, phy::SoftBitFormat::int8);
     }},
    {"batch demapper",
     [](const Device& device) {
         phy::gpu::BatchDemapper(device, {.llr = by_table.llr})
             .prepare(phy::Modulation::qam16, 0.1F, phy::SoftBitFormat::int8);
     }},
    {"slot demapper",
     [](const Device& device) {
         phy::gpu::SlotDemapper demap(device, {.demapper = by_table, .symbols = 100});
         demap.prepare(0.1F);
         demap.demap(100, 0.1F);
     }},
    {"pipeline", run_a_pipeline},
};

TEST_F(MemoryResources, GiveEverythingThatPhyHasOnADevice) {
    for (const Owner& owner : owners) {
        SCOPED_TRACE(owner.name);
        const auto counting = std::make_shared<CountingResource>();
        const ResourceInUse scope(counting);
        owner.use(Device());
        EXPECT_GT(counting->allocations(), 0U);
        EXPECT_EQ(counting->lent(), 0U);
        EXPECT_EQ(counting->mistake(), "");
    }
}

// Code is loaded the first time; from then on nothing but the resource may take memory.
TEST_F(MemoryResources, AreAskedBeforeCudaIs) {
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "tools use device memory themselves";
    const Device device;
    for (const Owner& owner : owners) {
        SCOPED_TRACE(owner.name);
        owner.use(device);
        const auto empty = std::make_shared<EmptyResource>();
        const ResourceInUse scope(empty);
        EXPECT_TRUE(
            phy_test::keeps_free_memory(device, [&] { EXPECT_THROW(owner.use(device), phy::Error); }));
        EXPECT_GT(empty->requests, 0);
        EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    }
}

TEST_F(MemoryResources, MayHaveNothing) {
    const auto empty = std::make_shared<EmptyResource>();
    const ResourceInUse scope(empty);
    try {
        const DeviceBuffer<float> buffer(Device(), 100);
        ADD_FAILURE() << "memory from nowhere";
    } catch (const phy::gpu::CudaError& error) {
        EXPECT_TRUE(error.out_of_memory()) << error.what();
    }
    EXPECT_EQ(empty->requests, 1);
}

TEST_F(MemoryResources, AreAskedWithTheirDeviceCurrent) {
    struct Watching : CountingResource {
        void* allocate(const Device& device, std::size_t bytes) override {
            int current = -1;
            phy::gpu::check(cudaGetDevice(&current));
            EXPECT_EQ(current, device.ordinal());
            return CountingResource::allocate(device, bytes);
        }
        void deallocate(const Device& device, void* memory, std::size_t bytes) noexcept override {
            int current = -1;
            EXPECT_EQ(cudaGetDevice(&current), cudaSuccess);
            EXPECT_EQ(current, device.ordinal());
            CountingResource::deallocate(device, memory, bytes);
        }
    };
    const auto watching = std::make_shared<Watching>();
    const ResourceInUse scope(watching);
    for (const Device& current : Device::all()) {
        const phy::gpu::CurrentDevice outside(current);
        for (const Device& device : Device::all())
            EXPECT_NO_THROW(DeviceBuffer<float>(device, 10));
    }
    EXPECT_EQ(watching->lent(), 0U);
    EXPECT_EQ(watching->mistake(), "");
}

}  // namespace
