#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <thread>
#include <utility>

#include "demapper/count_allocations.hpp"
#include "demapper/cuda_calls.hpp"
#include "demapper/mixed_calls.hpp"

/// Calls and what they do to the caller: nothing but start work in its stream.
namespace {

using phy::SoftBitFormat;
using phy::gpu::Device;
using phy_test::DeviceCallMemory;
using phy_test::DeviceDemappers;
using phy_test::NoiseKind;
using phy_test::RecordedCalls;
using phy_test::Window;

/// What a stream did while it was captured, to be done again.
class CapturedCalls {
public:
    template <typename Calls>
    CapturedCalls(cudaStream_t stream, Calls calls) {
        cudaGraph_t graph = nullptr;
        phy::gpu::check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        calls();
        phy::gpu::check(cudaStreamEndCapture(stream, &graph));
        const auto code = cudaGraphInstantiate(&graph_, graph, 0);
        cudaGraphDestroy(graph);
        phy::gpu::check(code);
    }
    ~CapturedCalls() { cudaGraphExecDestroy(graph_); }
    CapturedCalls(const CapturedCalls&) = delete;
    CapturedCalls& operator=(const CapturedCalls&) = delete;

    void replay(cudaStream_t stream) const { phy::gpu::check(cudaGraphLaunch(graph_, stream)); }

private:
    cudaGraphExec_t graph_ = nullptr;
};

/// The same calls on other data: the first, the second, ... `count` symbols of an input.
RecordedCalls part_of(const phy_test::Variant& variant, const phy_test::Input& input, const NoiseKind& noise,
                      SoftBitFormat format, std::size_t part) {
    phy::SoftDemapper scalar = variant.on(phy::Backend::scalar());
    const std::size_t first = 1000 * part;  // even, for pi/2-BPSK
    const std::vector<Window> windows = {{.first = first, .count = 1000},
                                         {.first = first, .count = 77, .in_offset = 3, .out_offset = 5}};
    return phy_test::recorded_calls(scalar, input, noise, format, windows);
}

constexpr NoiseKind noises[] = {{false, 0.02F}, {true, 0.0F}};

class CudaCalls : public testing::TestWithParam<phy_test::Variant> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    /// Captures calls(recorded's calls, stream), then replays them on the recordings one after the other.
    template <typename Calls>
    static void expect_replay(DeviceCallMemory& memory, std::span<const RecordedCalls> recordings,
                              Calls calls) {
        const std::byte* const at = memory.fill(recordings[0]).data();
        memory.contents();
        const CapturedCalls captured_calls(memory.stream(), [&] {
            const std::vector<phy::gpu::Allocation> captured = recordings[0].calls(memory.bytes());
            calls(captured, memory.stream());
        });
        for (const RecordedCalls& recorded : recordings) {
            ASSERT_EQ(memory.fill(recorded).data(), at);
            captured_calls.replay(memory.stream());
            ASSERT_EQ(recorded.difference(memory.contents()), "");
        }
    }
};

TEST_P(CudaCalls, CanBeCapturedAndReplayed) {
    const Device device;
    DeviceDemappers subject(device, GetParam().config());
    const phy_test::SymbolsWithNoise symbols = phy_test::awkward_symbols(GetParam().modulation, 3000);
    for (const NoiseKind& noise : noises) {
        phy_test::for_all_formats(symbols, [&](const phy_test::Input& input, SoftBitFormat format) {
            subject.prepare(noise, format);
            std::vector<RecordedCalls> recordings;
            for (const std::size_t part : {0U, 1U, 2U})
                recordings.push_back(part_of(GetParam(), input, noise, format, part));
            ASSERT_NO_FATAL_FAILURE(
                expect_replay(subject.memory(), recordings, [&](const auto& calls, cudaStream_t stream) {
                    phy_test::call_all(subject.single(), calls, stream);
                }));
            ASSERT_NO_FATAL_FAILURE(expect_replay(
                subject.memory(), recordings,
                [&](const auto& calls, cudaStream_t stream) { subject.batch()(calls, stream); }));
        });
    }
}

TEST_P(CudaCalls, AllocateNothing) {
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "tools use device memory themselves";
    const Device device;
    DeviceDemappers subject(device, GetParam().config());
    const phy_test::Input input(phy::SampleFormat::cf32,
                                phy_test::awkward_symbols(GetParam().modulation, 1000));
    for (const NoiseKind& noise : noises) {
        subject.prepare(noise, SoftBitFormat::int8);
        const RecordedCalls recorded = part_of(GetParam(), input, noise, SoftBitFormat::int8, 0);
        phy_test::DeviceCounters counters(device, {});
        const std::vector<phy::gpu::Allocation> calls = recorded.calls(subject.memory().fill(recorded));
        const auto make_calls = [&](int times) {
            for (int n = 0; n < times; ++n) {
                const auto counted = n % 2 == 0 ? phy::gpu::DeviceSpan<phy::DemapCounters>() : counters.get();
                phy_test::call_all(subject.single(), calls, subject.memory().stream(), counted);
                subject.batch()(calls, subject.memory().stream(), counted);
            }
        };
        make_calls(2);
        device.synchronize();
        const std::size_t news_before = phy_test::allocations_of_this_thread();
        EXPECT_TRUE(phy_test::keeps_free_memory(device, [&] { make_calls(1000); }));
        EXPECT_EQ(phy_test::allocations_of_this_thread(), news_before);
        EXPECT_EQ(recorded.difference(subject.memory().contents()), "");
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
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "tools may wait for every kernel";
    const Device device;
    const phy_test::BatchKind kind{phy::Method::log_map, phy::Evaluator::automatic};
    phy::gpu::BatchDemapper batch(device, kind.config());
    for (const phy::Modulation modulation : phy::all_modulations) {
        for (const float n0 : phy_test::mixed_noise)
            batch.prepare(modulation, n0, SoftBitFormat::int8);
    }
    const RecordedCalls recorded = phy_test::MixedCalls(kind).take(700, SoftBitFormat::int8);
    DeviceCallMemory memory(device);
    // Once without a gate: the driver waits where it loads a kernel for the first time.
    batch(recorded.calls(memory.fill(recorded)), memory.stream());
    ASSERT_EQ(recorded.difference(memory.contents()), "");
    std::vector<phy::gpu::Allocation> calls = recorded.calls(memory.fill(recorded));
    device.synchronize();

    static Gate gate;
    phy::gpu::check(cudaLaunchHostFunc(memory.stream(), Gate::wait, &gate));
    batch(calls, memory.stream());
    EXPECT_EQ(cudaStreamQuery(memory.stream()), cudaErrorNotReady);
    calls.clear();
    calls.shrink_to_fit();
    gate.open = true;
    EXPECT_EQ(recorded.difference(memory.contents()), "");
    EXPECT_FALSE(gate.passed_in_vain) << "the call waited for its stream";
}

/// Demaps on two streams of its own and gives what went wrong.
std::string use_from_a_thread(const phy::gpu::SoftDemapper& single, const phy::gpu::BatchDemapper& batch,
                              const RecordedCalls& recorded) {
    DeviceCallMemory first(single.device());
    DeviceCallMemory second(single.device());
    for (int n = 0; n < (phy_test::takes_fewer_cases() ? 3 : 100); ++n) {
        phy_test::call_all(single, recorded.calls(first.fill(recorded)), first.stream());
        batch(recorded.calls(second.fill(recorded)), second.stream());
        std::string difference =
            recorded.difference(first.contents()) + recorded.difference(second.contents());
        if (!difference.empty()) return difference;
    }
    return "";
}

TEST(CudaCallsFrom, SeveralThreadsShareADemapper) {
    PHY_NEEDS_GPU();
    const Device device;
    const phy_test::Variant variant{phy::Modulation::qam64, phy::Method::log_map, phy::Evaluator::table};
    DeviceDemappers subject(device, variant.config());
    phy::SoftDemapper scalar = variant.on(phy::Backend::scalar());
    const phy_test::Input input(phy::SampleFormat::cf32, phy_test::awkward_symbols(variant.modulation, 4000));
    std::vector<RecordedCalls> recordings;
    for (std::size_t n = 0; n < 6; ++n) {
        const std::vector<Window> windows = {{.first = 100 * n, .count = 3000},
                                             {.first = 7 * n, .count = 99, .out_offset = n}};
        const NoiseKind noise = n % 3 == 2 ? NoiseKind{true, 0.0F} : NoiseKind{false, 0.01F};
        const SoftBitFormat format = phy::all_soft_bit_formats[n % 2];
        subject.prepare(noise, format);
        recordings.push_back(phy_test::recorded_calls(scalar, input, noise, format, windows));
    }
    std::vector<std::string> wrong(recordings.size());
    std::vector<std::jthread> threads;
    for (std::size_t n = 0; n < recordings.size(); ++n) {
        threads.emplace_back([&, n] {
            try {
                wrong[n] = use_from_a_thread(subject.single(), subject.batch(), recordings[n]);
            } catch (const phy::Error& error) {
                wrong[n] = error.what();
            }
        });
    }
    threads.clear();
    EXPECT_EQ(wrong, std::vector<std::string>(recordings.size()));
}

/// Calls of which each reads what the one before writes, and writes what that one reads.
class Relay {
public:
    Relay(const phy_test::Variant& variant, float noise, std::size_t symbols)
        : config_(variant.config()),
          noise_(noise),
          symbols_(symbols),
          soft_bits_(symbols * phy::bits_per_symbol(config_.modulation)) {}

    /// Both arrays after `calls` calls on the CPU.
    [[nodiscard]] std::array<std::vector<std::int8_t>, 2> expected(int calls) const {
        phy::SoftDemapper demap(phy::Host({.backend = phy::Backend::scalar()}), config_);
        std::array arrays = {start(), std::vector<std::int8_t>(soft_bits_)};
        for (int n = 0; n < calls; ++n) {
            const auto from = std::as_bytes(std::span(arrays[n % 2])).last(2 * symbols_);
            const auto to = std::as_writable_bytes(std::span(arrays[1 - n % 2]));
            demap({phy::SampleFormat::ci8, from}, noise_, {SoftBitFormat::int8, to});
        }
        return arrays;
    }

    [[nodiscard]] std::array<std::vector<std::int8_t>, 2> on(const Device& device, int calls,
                                                             bool in_batches) const {
        DeviceDemappers demappers(device, config_);
        demappers.prepare({false, noise_}, SoftBitFormat::int8);
        std::array arrays = {start(), std::vector<std::int8_t>(soft_bits_)};
        phy::gpu::DeviceBuffer<std::byte> memory(device, 2 * soft_bits_);
        const phy::gpu::Stream stream(device);
        const auto part = [&](int n) { return memory.subspan(n % 2 * soft_bits_, soft_bits_); };
        for (int n = 0; n < 2; ++n)
            phy::gpu::copy_async(part(n), std::as_bytes(std::span(arrays[n])), stream);
        // A graph starts them one right after the other.
        const CapturedCalls captured(stream, [&] {
            for (int n = 0; n < calls; ++n) {
                const phy::gpu::Allocation call = {
                    config_.modulation,
                    {phy::SampleFormat::ci8, part(n).subspan(soft_bits_ - 2 * symbols_, 2 * symbols_)},
                    noise_,
                    {SoftBitFormat::int8, part(n + 1)}};
                if (in_batches) {
                    demappers.batch()(std::span(&call, 1), stream);
                } else {
                    demappers.single()(call.symbols, call.noise, call.llr, stream);
                }
            }
        });
        captured.replay(stream);
        for (int n = 0; n < 2; ++n)
            phy::gpu::copy_async(std::as_writable_bytes(std::span(arrays[n])), part(n), stream);
        stream.synchronize();
        return arrays;
    }

private:
    [[nodiscard]] std::vector<std::int8_t> start() const {
        std::vector<std::int8_t> bytes(soft_bits_);
        for (std::size_t i = 0; i < bytes.size(); ++i)
            bytes[i] = static_cast<std::int8_t>(i * i % 251 - 125);
        return bytes;
    }

    phy::DemapperConfig config_;
    float noise_;
    std::size_t symbols_;
    std::size_t soft_bits_;
};

constexpr std::pair<phy_test::Variant, float> relays[] = {
    {{phy::Modulation::qpsk, phy::Method::max_log, phy::Evaluator::arithmetic}, 0.15F},
    {{phy::Modulation::qam64, phy::Method::log_map, phy::Evaluator::arithmetic}, 0.02F},
    {{phy::Modulation::qam16, phy::Method::log_map, phy::Evaluator::table}, 0.04F},
    {{phy::Modulation::qam256, phy::Method::max_log, phy::Evaluator::arithmetic}, 0.006F}};

TEST(CudaCallsThat, NeedEachOthersResultsWait) {
    PHY_NEEDS_GPU();
    const Device device;
    constexpr int calls = 9;
    for (const auto& [variant, noise] : relays) {
        for (const std::size_t symbols :
             std::initializer_list<std::size_t>{160U, 40000U, 190000U, 1500000U}) {
            const Relay relay(variant, noise, phy_test::takes_fewer_cases() ? symbols / 10 : symbols);
            const auto expected = relay.expected(calls);
            ASSERT_NE(expected, relay.expected(calls - 2)) << "each call must change something";
            for (const bool in_batches : {false, true}) {
                EXPECT_TRUE(relay.on(device, calls, in_batches) == expected)
                    << name_of(variant) << ", " << symbols << " symbols" << (in_batches ? ", batches" : "");
            }
        }
    }
}

}  // namespace
