#include "phy/core/cuda.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "core/backend_variable.hpp"
#include "gpu.hpp"
#include "phy/core/backend.hpp"
#include "phy/core/cuda_devices.hpp"
#include "phy/core/view.hpp"

namespace {

using phy::Backend;
using phy::gpu::CurrentDevice;
using phy::gpu::Device;
using phy::gpu::DeviceBuffer;
using phy::gpu::Event;
using phy::gpu::Graph;
using phy::gpu::PinnedBuffer;
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
              "cuda_test.cpp:" + std::to_string(line)})
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

TEST(NoDevice, IsListedAsABackendThatDoesNotRun) {
    if (!Device::all().empty()) GTEST_SKIP() << "there is a device";
    ASSERT_EQ(cuda_backends().size(), 1U);
    const Backend backend = cuda_backends().front();
    EXPECT_EQ(backend.name(), "cuda[0]");
    EXPECT_FALSE(backend.supported());
    EXPECT_EQ(backend.description(), Device::why_not());
    EXPECT_THROW(Backend::parse("cuda"), phy::BackendError);
}

TEST(Devices, ThatDoNotExistAreRefused) {
    EXPECT_THROW(Device(9999), phy::BackendError);
    EXPECT_THROW(Device(-1), phy::BackendError);
    EXPECT_THROW(Backend::parse("cuda[9999]"), phy::BackendError);
    EXPECT_THROW(Backend::parse("cuda[99999999999999999999]"), phy::BackendError);
}

TEST(Devices, ComeFirstInTheListOfBackends) {
    const auto devices = cuda_backends();
    ASSERT_FALSE(devices.empty());
    for (std::size_t i = 0; i < devices.size(); ++i) {
        EXPECT_EQ(Backend::all()[i], devices[i]);
        EXPECT_EQ(devices[i].device(), static_cast<int>(i));
    }
}

class OnDevice : public ::testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(OnDevice, DevicesSayWhatTheyAre) {
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

TEST_F(OnDevice, BestStaysOnHostMemoryUnlessTheVariableSaysCuda) {
    {
        const BackendVariable unset(nullptr);
        EXPECT_NE(Backend::best().kind(), Backend::Kind::cuda);
        EXPECT_EQ(Backend::forced(), std::nullopt);
    }
    const BackendVariable cuda("cuda");
    EXPECT_EQ(Backend::best().name(), "cuda[0]");
    EXPECT_EQ(Backend::forced(), Backend::best());
}

TEST_F(OnDevice, BuffersGoThereAndBack) {
    const Device device;
    const Stream stream(device);
    constexpr std::size_t size = 100003;
    const PinnedBuffer<std::uint32_t> sent(size);
    const PinnedBuffer<std::uint32_t> received(size);
    const DeviceBuffer<std::uint32_t> first(device, size);
    const DeviceBuffer<std::uint32_t> second(device, size);
    EXPECT_EQ(first.size(), size);
    EXPECT_EQ(first.bytes(), 4 * size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first.data()) % 256, 0U);
    std::iota(sent.begin(), sent.end(), 7U);
    std::fill(received.begin(), received.end(), 0U);
    phy::gpu::copy_async(first, sent, stream);
    phy::gpu::copy_async(second, first, stream);
    phy::gpu::copy_async(received, second, stream);
    stream.synchronize();
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), received.begin()));

    std::vector<std::uint32_t> pageable(size);
    phy::gpu::fill_async(std::span(second).first(size - 1), 0xA5, stream);
    phy::gpu::copy_async(pageable, second, stream);
    stream.synchronize();
    EXPECT_EQ(std::count(pageable.begin(), pageable.end() - 1, 0xA5A5A5A5U),
              static_cast<std::ptrdiff_t>(size - 1));
    EXPECT_EQ(pageable.back(), sent.end()[-1]);
}

TEST_F(OnDevice, BuffersConvertToViews) {
    const Device device;
    const DeviceBuffer<phy::cf32> symbols(device, 5);
    const DeviceBuffer<std::int8_t> soft_bits(device, 10);
    const phy::SymbolView view(symbols);
    EXPECT_EQ(static_cast<const void*>(view.data()), symbols.data());
    EXPECT_EQ(view.size(), 5U);
    const phy::SoftBitSpan span(soft_bits);
    EXPECT_EQ(static_cast<const void*>(span.data()), soft_bits.data());
    EXPECT_EQ(span.size(), 10U);
}

TEST_F(OnDevice, BuffersOfNothingAndMovedOnesAreEmpty) {
    const Device device;
    const Stream stream(device);
    const DeviceBuffer<float> nothing(device, 0);
    const PinnedBuffer<float> nothing_pinned(0);
    EXPECT_EQ(nothing.data(), nullptr);
    EXPECT_EQ(nothing.size(), 0U);
    EXPECT_EQ(nothing_pinned.data(), nullptr);
    phy::gpu::copy_async(nothing, nothing_pinned, stream);
    phy::gpu::fill_async(nothing, 1, stream);
    EXPECT_NO_THROW(stream.synchronize());

    DeviceBuffer<float> from(device, 3);
    float* const data = from.data();
    const DeviceBuffer<float> to(std::move(from));
    EXPECT_EQ(to.data(), data);
    EXPECT_EQ(to.size(), 3U);
    EXPECT_EQ(from.size(), 0U);  // NOLINT(bugprone-use-after-move): what is tested
}

TEST_F(OnDevice, TooLittleMemoryIsAnErrorThatPasses) {
    const Device device;
    for (const std::size_t size : {SIZE_MAX, SIZE_MAX / 4 + 2, std::size_t{1} << 50U}) {
        try {
            const DeviceBuffer<std::uint32_t> buffer(device, size);
            ADD_FAILURE() << size;
        } catch (const phy::gpu::CudaError& error) {
            EXPECT_TRUE(error.out_of_memory()) << error.what();
        }
    }
    EXPECT_THROW(PinnedBuffer<std::uint32_t>(SIZE_MAX / 4 + 2), phy::gpu::CudaError);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
    EXPECT_NO_THROW(DeviceBuffer<float>(device, 1000));
    EXPECT_NO_THROW(device.synchronize());
}

/// One stream fills memory and another, held back by an event, copies it.
class FillAndCopy {
public:
    explicit FillAndCopy(const Device& device)
        : writer(device), reader_(device), buffer_(device, size), seen_(size) {}

    Stream writer;

    /// The copy is to see what was written last, all of it.
    void expect_order(const Event& written, int round) const {
        for (int again = 0; again < 20; ++again)
            phy::gpu::fill_async(buffer_, 0, writer);
        phy::gpu::fill_async(buffer_, round, writer);
        written.record(writer);
        written.hold_back(reader_);
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

TEST_F(OnDevice, EventsOrderStreams) {
    const Device device;
    const FillAndCopy work(device);
    const Event start(device);
    const Event written(device);
    for (int round = 1; round < 6; ++round) {
        start.record(work.writer);
        work.expect_order(written, round);
        written.synchronize();
        EXPECT_GT(written.milliseconds_since(start), 0.0F);
    }
}

TEST_F(OnDevice, EventsThatWereNotRecordedHaveNoTime) {
    const Device device;
    EXPECT_THROW(static_cast<void>(Event(device).milliseconds_since(Event(device))), phy::gpu::CudaError);
}

TEST_F(OnDevice, EventsWithoutTimesOrderStreamsAndHaveNone) {
    const Device device;
    const FillAndCopy work(device);
    const Event written(device, Event::Timing::off);
    for (int round = 1; round < 6; ++round)
        work.expect_order(written, round);
    const Event timed(device);
    timed.record(work.writer);
    timed.synchronize();
    EXPECT_THROW(static_cast<void>(timed.milliseconds_since(written)), phy::gpu::CudaError);
    EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);
}

TEST_F(OnDevice, GraphsDoTheirWorkAsOftenAsTheyAreStarted) {
    const Device device;
    const Stream stream(device);
    const DeviceBuffer<std::uint8_t> buffer(device, 1000);
    const PinnedBuffer<std::uint8_t> sent(1000);
    const PinnedBuffer<std::uint8_t> received(1000);
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

TEST_F(OnDevice, GraphsThatCannotBeCapturedLeaveTheDeviceUsable) {
    const Device device;
    const DeviceBuffer<std::uint8_t> buffer(device, 1000);
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

TEST_F(OnDevice, CurrentDeviceIsRestored) {
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

}  // namespace
