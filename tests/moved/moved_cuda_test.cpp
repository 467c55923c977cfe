#include "moved/configs.hpp"
#include "moved/moved.hpp"
#include "phy/phy.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::gpu::Device;

class GpuMovedFrom : public testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(GpuMovedFrom, StreamsEventsAndGraphs) {
    const Device device;
    const phy::gpu::Stream stream(device);
    const auto get = [](auto& object) { static_cast<void>(object.get()); };
    expect_named_when_moved_from(
        "gpu::Stream", [&] { return phy::gpu::Stream(device); }, get,
        [](auto& moved) { static_cast<void>(static_cast<cudaStream_t>(moved)); },
        [](auto& moved) { moved.synchronize(); });
    expect_named_when_moved_from(
        "gpu::Event", [&] { return phy::gpu::Event(device); }, get,
        [&](auto& event) { event.record(stream); }, [](auto& event) { event.synchronize(); },
        [&](auto& event) { event.delay(stream); });
    expect_named_when_moved_from(
        "gpu::Graph", [&] { return phy::gpu::Graph(device, [](cudaStream_t) {}); },
        [&](auto& graph) { graph(stream); });
    stream.synchronize();
}

TEST_F(GpuMovedFrom, Demappers) {
    const Device device;
    const phy::gpu::Stream stream(device);
    const auto clear = [](auto& demap) { demap.clear_tables(); };
    expect_named_when_moved_from(
        "gpu::SoftDemapper", [&] { return phy::gpu::SoftDemapper(device, {}); }, config_of, device_of, clear,
        [](auto& demap) { demap.prepare(0.1F, phy::SoftBitFormat::int8); });
    expect_named_when_moved_from(
        "gpu::BatchDemapper", [&] { return phy::gpu::BatchDemapper(device, {}); }, config_of, device_of,
        clear, [](auto& demap) { demap.prepare(phy::Modulation::qpsk, 0.1F, phy::SoftBitFormat::int8); });
    expect_named_when_moved_from(
        "gpu::SlotDemapper", [&] { return phy::gpu::SlotDemapper(device, {.symbols = 10}); }, config_of,
        clear, [](auto& demap) { static_cast<void>(demap.input()); },
        [](auto& demap) { static_cast<void>(demap.demap(10, 0.1F)); });
}

TEST_F(GpuMovedFrom, Channel) {
    const Device device;
    expect_named_when_moved_from(
        "gpu::ChannelEstimator", [&] { return phy::gpu::ChannelEstimator(device, estimator_config(), 1); },
        config_of, device_of);
    expect_named_when_moved_from(
        "gpu::Equalizer", [&] { return phy::gpu::Equalizer(device, equalizer_config()); }, config_of,
        device_of);
    expect_named_when_moved_from(
        "gpu::JointDetector", [&] { return phy::gpu::JointDetector(device, {}); }, config_of, device_of);
}

TEST_F(GpuMovedFrom, Ofdm) {
    const Device device;
    expect_named_when_moved_from(
        "gpu::OfdmDemodulator", [&] { return phy::gpu::OfdmDemodulator(device, {.ofdm = ofdm_config()}); },
        config_of, device_of);
    expect_named_when_moved_from(
        "gpu::TransformPrecoder", [&] { return phy::gpu::TransformPrecoder(device, {.subcarriers = 12}); },
        config_of, device_of);
    expect_named_when_moved_from(
        "gpu::TransformDeprecoder",
        [&] { return phy::gpu::TransformDeprecoder(device, {.subcarriers = 12}); }, config_of, device_of);
}

}  // namespace
