#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "demapper/count_allocations.hpp"
#include "demapper/cuda_calls.hpp"
#include "demapper/mixed_calls.hpp"

/// Calls and what they do to the caller: nothing but start work in its stream.
namespace {

using phy::SoftBitFormat;
using phy::gpu::Device;
using phy_test::CallSheet;
using phy_test::DeviceDemappers;
using phy_test::DeviceSheet;
using phy_test::NoiseKind;
using phy_test::Window;

/// What a stream did while it was captured, to be done again.
class Recording {
public:
    template <typename Calls>
    Recording(cudaStream_t stream, Calls calls) {
        cudaGraph_t graph = nullptr;
        phy::gpu::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        calls();
        phy::gpu::check(cudaStreamEndCapture(stream, &graph));
        const auto code = cudaGraphInstantiate(&graph_, graph, 0);
        cudaGraphDestroy(graph);
        phy::gpu::check(code);
    }
    ~Recording() { cudaGraphExecDestroy(graph_); }
    Recording(const Recording&) = delete;
    Recording& operator=(const Recording&) = delete;

    void replay(cudaStream_t stream) const { phy::gpu::check(cudaGraphLaunch(graph_, stream)); }

private:
    cudaGraphExec_t graph_ = nullptr;
};

/// The same calls on other data: the first, the second, ... `count` symbols of a pool.
CallSheet part_of(const phy_test::Variant& variant, const phy_test::Input& input, const NoiseKind& noise,
                  SoftBitFormat format, std::size_t part) {
    phy::SoftDemapper scalar = variant.on(phy::Backend::scalar());
    const std::size_t first = 1000 * part;  // even, for pi/2-BPSK
    const std::vector<Window> windows = {{.first = first, .count = 1000},
                                         {.first = first, .count = 77, .in_offset = 3, .out_offset = 5}};
    return phy_test::sheet_of(scalar, input, noise, format, windows);
}

constexpr NoiseKind noises[] = {{false, 0.02F}, {true, 0.0F}};

class CudaCalls : public testing::TestWithParam<phy_test::Variant> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    /// Captures calls(sheet's calls, stream), then replays them on the sheets one after the other.
    template <typename Calls>
    static void expect_replay(DeviceSheet& memory, std::span<const CallSheet> sheets, Calls calls) {
        memory.fill(sheets[0]);
        memory.contents();
        const Recording recording(memory.stream(), [&] {
            const std::vector<phy::Allocation> captured = sheets[0].calls(memory.data());
            calls(captured, memory.stream());
        });
        for (const CallSheet& sheet : sheets) {
            ASSERT_EQ(memory.fill(sheet), memory.data());
            recording.replay(memory.stream());
            ASSERT_EQ(sheet.difference(memory.contents()), "");
        }
    }
};

TEST_P(CudaCalls, CanBeCapturedAndReplayed) {
    const Device device;
    DeviceDemappers subject(device, phy_test::gpu_config(GetParam()));
    const phy_test::Pool pool = phy_test::awkward_pool(GetParam().modulation, 3000);
    for (const NoiseKind& noise : noises) {
        phy_test::for_all_formats(pool, [&](const phy_test::Input& input, SoftBitFormat format) {
            subject.prepare(noise, format);
            std::vector<CallSheet> sheets;
            for (const std::size_t part : {0U, 1U, 2U})
                sheets.push_back(part_of(GetParam(), input, noise, format, part));
            ASSERT_NO_FATAL_FAILURE(
                expect_replay(subject.memory(), sheets, [&](const auto& calls, cudaStream_t stream) {
                    phy_test::call_all(subject.single(), calls, stream);
                }));
            ASSERT_NO_FATAL_FAILURE(expect_replay(
                subject.memory(), sheets,
                [&](const auto& calls, cudaStream_t stream) { subject.batch()(calls, stream); }));
        });
    }
}

TEST_P(CudaCalls, AllocateNothing) {
    if (phy_test::is_thin()) GTEST_SKIP() << "tools use device memory themselves";
    const Device device;
    DeviceDemappers subject(device, phy_test::gpu_config(GetParam()));
    const phy_test::Input input(phy::SampleFormat::cf32, phy_test::awkward_pool(GetParam().modulation, 1000));
    for (const NoiseKind& noise : noises) {
        subject.prepare(noise, SoftBitFormat::int8);
        const CallSheet sheet = part_of(GetParam(), input, noise, SoftBitFormat::int8, 0);
        const phy_test::DeviceCounters counters(device, {});
        const std::vector<phy::Allocation> calls = sheet.calls(subject.memory().fill(sheet));
        const auto make_calls = [&](int times) {
            for (int n = 0; n < times; ++n) {
                phy::DemapCounters* counted = n % 2 == 0 ? nullptr : counters.get();
                phy_test::call_all(subject.single(), calls, subject.memory().stream(), counted);
                subject.batch()(calls, subject.memory().stream(), counted);
            }
        };
        make_calls(2);
        device.synchronize();
        const std::size_t news_before = phy_test::allocations_of_this_thread();
        EXPECT_TRUE(phy_test::keeps_free_memory(device, [&] { make_calls(1000); }));
        EXPECT_EQ(phy_test::allocations_of_this_thread(), news_before);
        EXPECT_EQ(sheet.difference(subject.memory().contents()), "");
    }
}

INSTANTIATE_TEST_SUITE_P(, CudaCalls, testing::ValuesIn(phy_test::all_variants()),
                         [](const auto& variant) { return name_of(variant.param); });

/// Keeps a stream from going on until it is opened, or until it has waited in vain for a long time.
struct Gate {
    std::atomic<bool> open = false;
    std::atomic<bool> passed_in_vain = false;

    static void wait(void* gate) {
        auto& self = *static_cast<Gate*>(gate);
        const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        while (!self.open && std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(std::chrono::microseconds(100));
        self.passed_in_vain = !self.open;
    }
};

TEST(CudaCallsIn, AStreamThatStandsStillReturn) {
    PHY_NEEDS_GPU();
    if (phy_test::is_thin()) GTEST_SKIP() << "tools may wait for every kernel";
    const Device device;
    const phy_test::BatchKind kind{phy::Method::log_map, phy::Evaluator::automatic};
    phy::gpu::BatchDemapper batch(device, {.method = kind.method});
    for (const phy::Modulation modulation : phy::all_modulations) {
        for (const float n0 : phy_test::mixed_noise)
            batch.prepare(modulation, phy::NoiseVariance(n0), SoftBitFormat::int8);
    }
    const CallSheet sheet = phy_test::MixedCalls(kind).take(700, SoftBitFormat::int8);
    DeviceSheet memory(device);
    // Once without a gate: the driver waits where it loads a kernel for the first time.
    batch(sheet.calls(memory.fill(sheet)), memory.stream());
    ASSERT_EQ(sheet.difference(memory.contents()), "");
    std::vector<phy::Allocation> calls = sheet.calls(memory.fill(sheet));
    device.synchronize();

    static Gate gate;
    phy::gpu::check(cudaLaunchHostFunc(memory.stream(), Gate::wait, &gate));
    batch(calls, memory.stream());
    EXPECT_EQ(cudaStreamQuery(memory.stream()), cudaErrorNotReady);
    calls.clear();
    calls.shrink_to_fit();
    gate.open = true;
    EXPECT_EQ(sheet.difference(memory.contents()), "");
    EXPECT_FALSE(gate.passed_in_vain) << "the call waited for its stream";
}

/// Demaps on two streams of its own and gives what went wrong.
std::string use_from_a_thread(const phy::gpu::SoftDemapper& single, const phy::gpu::BatchDemapper& batch,
                              const CallSheet& sheet) {
    DeviceSheet first(single.device());
    DeviceSheet second(single.device());
    for (int n = 0; n < (phy_test::is_thin() ? 3 : 100); ++n) {
        phy_test::call_all(single, sheet.calls(first.fill(sheet)), first.stream());
        batch(sheet.calls(second.fill(sheet)), second.stream());
        std::string difference = sheet.difference(first.contents()) + sheet.difference(second.contents());
        if (!difference.empty()) return difference;
    }
    return "";
}

TEST(CudaCallsFrom, SeveralThreadsShareADemapper) {
    PHY_NEEDS_GPU();
    const Device device;
    const phy_test::Variant variant{phy::Modulation::qam64, phy::Method::log_map, phy::Evaluator::table};
    DeviceDemappers subject(device, phy_test::gpu_config(variant));
    phy::SoftDemapper scalar = variant.on(phy::Backend::scalar());
    const phy_test::Input input(phy::SampleFormat::cf32, phy_test::awkward_pool(variant.modulation, 4000));
    std::vector<CallSheet> sheets;
    for (std::size_t n = 0; n < 6; ++n) {
        const std::vector<Window> windows = {{.first = 100 * n, .count = 3000},
                                             {.first = 7 * n, .count = 99, .out_offset = n}};
        const NoiseKind noise = n % 3 == 2 ? NoiseKind{true, 0.0F} : NoiseKind{false, 0.01F};
        const SoftBitFormat format = phy::all_soft_bit_formats[n % 2];
        subject.prepare(noise, format);
        sheets.push_back(phy_test::sheet_of(scalar, input, noise, format, windows));
    }
    std::vector<std::string> wrong(sheets.size());
    std::vector<std::jthread> threads;
    for (std::size_t n = 0; n < sheets.size(); ++n) {
        threads.emplace_back([&, n] {
            try {
                wrong[n] = use_from_a_thread(subject.single(), subject.batch(), sheets[n]);
            } catch (const phy::Error& error) {
                wrong[n] = error.what();
            }
        });
    }
    threads.clear();
    EXPECT_EQ(wrong, std::vector<std::string>(sheets.size()));
}

}  // namespace
