// The stage of a receiver on a GPU, in pipelines.

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "phy/cuda/device.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/receiver/stage.hpp"
#include "receiver_cases.hpp"
#include "receiver_on_gpu.hpp"
#include "support/gpu.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::ReceiverConfig;
using phy::ReceiverInput;

constexpr std::size_t slots = 23;

template <typename T>
std::span<std::byte> spoilt_bytes(std::vector<T>& values) {
    std::ranges::fill(std::as_writable_bytes(std::span(values)), std::byte{7});
    return std::as_writable_bytes(std::span(values));
}

/// All outputs, in arrays as large as those of what is expected.
Received received_by_stage(const ReceiverConfig& config, phy::SymbolView input, const Received& expected,
                           const phy::Pipeline::Config& how, const std::vector<phy::Place>& places) {
    phy::ReceiveStage stage({.receiver = config, .format = input.format(), .symbols = true, .channel = true});
    phy::Pipeline pipeline(places, stage, how);
    Received got = expected;
    phy::MemorySource source(stage.inputs(), {input.bytes()});
    phy::MemorySink sink(stage.outputs(),
                         {spoilt_bytes(got.llr), spoilt_bytes(got.slots), spoilt_bytes(got.symbols),
                          spoilt_bytes(got.noise_variance), spoilt_bytes(got.channel)});
    pipeline.run(source, sink);
    return got;
}

std::vector<ReceiverConfig> configs() {
    ReceiverConfig samples = small_receiver(ReceiverInput::samples, 2, 3);
    samples.link.modulation = phy::Modulation::qam64;
    samples.link.slots = {0, 1, 4, 5, 6, 7, 8, 9, 14};
    samples.link.carrier.first_slot = 5;
    ReceiverConfig grid = precoded_receiver(ReceiverInput::grid, 15);
    grid.format = phy::SoftBitFormat::float16;
    return {samples, grid};
}

TEST(GpuReceiveStageTest, EveryChunkLanesAndOrder) {
    PHY_NEEDS_GPU();
    for (const ReceiverConfig& config : configs()) {
        const std::vector<phy::cf32> input = transmit(config, {.snr_db = 15.0}, 0, slots).input;
        phy::Receiver receiver(phy::Host(), config);
        const Received expected = receive(receiver, input);
        for (const std::size_t chunk : fewer_cases<std::size_t>({0, 1, 2, 3, 5, 8, 23, 40})) {
            for (const std::size_t buffer_sets : {1U, 4U}) {
                for (const phy::IssueOrder order :
                     {phy::IssueOrder::sequential, phy::IssueOrder::parallel, phy::IssueOrder::serial}) {
                    const Received got = received_by_stage(
                        config, input, expected, {.chunk = chunk, .buffer_sets = buffer_sets, .order = order},
                        {phy::gpu::Device()});
                    EXPECT_TRUE(got == expected)
                        << "chunk " << chunk << ", " << buffer_sets << " buffer sets, " << to_string(order)
                        << ": " << difference(got, expected);
                }
            }
        }
    }
}

TEST(GpuReceiveStageTest, AllDevices) {
    PHY_NEEDS_GPU();
    std::vector<phy::Place> places;
    for (const phy::gpu::Device& device : phy::gpu::Device::all())
        places.emplace_back(device);
    const ReceiverConfig config = configs().front();
    const std::vector<phy::cf32> input = transmit(config, {.snr_db = 15.0}, 0, slots).input;
    phy::Receiver receiver(phy::Host(), config);
    const Received expected = receive(receiver, input);
    const Received got = received_by_stage(config, input, expected, {.chunk = 3}, places);
    EXPECT_TRUE(got == expected) << difference(got, expected);
}

/// Chunks of more slots than a call of the receiver takes.
TEST(GpuReceiveStageTest, LongChunks) {
    PHY_NEEDS_GPU();
    constexpr std::size_t frames = 60;
    ReceiverConfig config = small_receiver(ReceiverInput::grid, 1, 1);
    const std::vector<phy::cf32> frame = transmit(config, {.snr_db = 15.0}, 0, 20).input;
    const std::vector<phy::ci8> of_frame = to_integers<phy::ci8>(frame, config.full_scale);
    std::vector<phy::ci8> input;
    for (std::size_t i = 0; i < frames; ++i)
        input.insert(input.end(), of_frame.begin(), of_frame.end());
    phy::Receiver receiver(phy::Host(), config);
    const Received expected = receive(receiver, input);
    const Received got =
        received_by_stage(config, input, expected, {.chunk = frames * 20 - 1}, {phy::gpu::Device()});
    EXPECT_TRUE(got == expected) << difference(got, expected);
}

}  // namespace
