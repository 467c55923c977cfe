#include "phy/cuda/stream.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include <cuda_runtime_api.h>

#include "phy/cuda/buffer.hpp"
#include "support/gpu.hpp"

namespace {

using phy::gpu::Device;
using phy::gpu::DeviceBuffer;
using phy::gpu::Event;
using phy::gpu::Graph;
using phy::gpu::PinnedBuffer;
using phy::gpu::Stream;

class Streams : public ::testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

/// One stream fills memory and another, held back by an event, copies it.
class FillAndCopy {
public:
    explicit FillAndCopy(const Device& device)
        : writer(device), reader_(device), buffer_(device, size), seen_(size) {}

    Stream writer;

    /// The copy is to see what was written last, all of it.
    void expect_order(const Event& written, int round) {
        for (int again = 0; again < 20; ++again)
            phy::gpu::fill_async(buffer_, 0, writer);
        phy::gpu::fill_async(buffer_, round, writer);
        written.record(writer);
        written.delay(reader_);
        phy::gpu::copy_async(seen_, buffer_, reader_);
        reader_.synchronize();
        EXPECT_EQ(std::count(seen_.begin(), seen_.end(), round), static_cast<std::ptrdiff_t>(size));
    }

private:
    static constexpr std::size_t size = std::size_t{64} << 20U;

    Stream reader_;
    DeviceBuffer<std::uint8_t> buffer_;
    PinnedBuffer<std::uint8_t> seen_;
};

TEST_F(Streams, EventsOrderStreams) {
    const Device device;
    FillAndCopy work(device);
    const Event start(device);
    const Event written(device);
    for (int round = 1; round < 6; ++round) {
        start.record(work.writer);
        work.expect_order(written, round);
        written.synchronize();
        EXPECT_GT(written.milliseconds_since(start), 0.0F);
    }
}

TEST_F(Streams, EventsThatWereNotRecordedHaveNoTime) {
    const Device device;
    EXPECT_THROW(static_cast<void>(Event(device).milliseconds_since(Event(device))), phy::gpu::CudaError);
}

TEST_F(Streams, EventsWithoutTimesOrderStreamsAndHaveNone) {
    const Device device;
    FillAndCopy work(device);
    const Event written(device, Event::Timing::off);
    for (int round = 1; round < 6; ++round)
        work.expect_order(written, round);
    const Event timed(device);
    timed.record(work.writer);
    timed.synchronize();
    EXPECT_THROW(static_cast<void>(timed.milliseconds_since(written)), phy::gpu::CudaError);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(Streams, GraphsDoTheirWorkAsOftenAsTheyAreStarted) {
    const Device device;
    const Stream stream(device);
    DeviceBuffer<std::uint8_t> buffer(device, 1000);
    PinnedBuffer<std::uint8_t> sent(1000);
    PinnedBuffer<std::uint8_t> received(1000);
    std::fill(sent.begin(), sent.end(), std::uint8_t{1});
    int captures = 0;
    const Graph graph(device, [&](cudaStream_t on) {
        ++captures;
        phy::gpu::copy_async(buffer, sent, on);
        phy::gpu::copy_async(received, buffer, on);
    });
    EXPECT_EQ(captures, 2) << "one that runs and one that is captured";
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));
    for (int round = 2; round < 6; ++round) {
        std::fill(sent.begin(), sent.end(), static_cast<std::uint8_t>(round));
        graph(stream);
        stream.synchronize();
        EXPECT_EQ(std::count(received.begin(), received.end(), round), 1000);
    }
    EXPECT_EQ(captures, 2);
}

TEST_F(Streams, GraphsThatCannotBeCapturedLeaveTheDeviceUsable) {
    const Device device;
    DeviceBuffer<std::uint8_t> buffer(device, 1000);
    int captures = 0;
    EXPECT_THROW(Graph(device,
                       [&](cudaStream_t stream) {
                           phy::gpu::fill_async(buffer, 1, stream);
                           if (++captures == 2) throw std::runtime_error("no more");
                       }),
                 std::runtime_error);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    const Stream stream(device);
    phy::gpu::fill_async(buffer, 2, stream);
    EXPECT_NO_THROW(stream.synchronize());
}

}  // namespace
