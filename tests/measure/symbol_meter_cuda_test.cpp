// What is summed over symbols on a GPU: the bytes of the CPU.

#include <gtest/gtest.h>

#include "measure/symbol_cases.hpp"
#include "phy/measure/cuda/symbol_launch.hpp"
#include "phy/phy.hpp"
#include "support/gpu.hpp"

namespace phy_test {
namespace {

using phy::Host;
using phy::Modulation;
using phy::SampleFormat;
using phy::SymbolMeterConfig;
using phy::SymbolSums;
using phy::gpu::DeviceBuffer;

std::vector<SymbolSums> on_host(const SymbolMeterConfig& config, const StoredSymbols& symbols,
                                std::size_t row, const std::vector<phy::cf32>* sent = nullptr,
                                std::uint64_t first_symbol = 0) {
    std::vector<SymbolSums> sums((symbols.size() + row - 1) / row);
    phy::SymbolMeter meter(Host({.threads = 0}), config);
    if (sent != nullptr)
        meter(symbols.view(), *sent, row, sums);
    else
        meter(symbols.view(), row, sums, first_symbol);
    return sums;
}

class CudaSymbolMeter : public testing::Test {
protected:
    void SetUp() override {
        PHY_NEEDS_GPU();
        device_ = phy::gpu::Device::all().front();
    }

    template <typename T>
    DeviceBuffer<T> to_device(std::span<const T> values) {
        DeviceBuffer<T> buffer(*device_, values.size());
        const phy::gpu::Stream stream(*device_);
        copy_async(buffer, values, stream);
        stream.synchronize();
        return buffer;
    }

    std::vector<SymbolSums> to_host(const DeviceBuffer<SymbolSums>& buffer) {
        std::vector<SymbolSums> values(buffer.size());
        const phy::gpu::Stream stream(*device_);
        copy_async(values, buffer, stream);
        stream.synchronize();
        return values;
    }

    /// Of stored symbols that begin `offset` bytes behind a multiple of 256.
    std::vector<SymbolSums> measure(const SymbolMeterConfig& config, const StoredSymbols& symbols,
                                    std::size_t row, const std::vector<phy::cf32>* sent = nullptr,
                                    std::uint64_t first_symbol = 0, std::size_t offset = 0) {
        std::vector<std::byte> shifted(offset);
        shifted.insert(shifted.end(), symbols.bytes.begin(), symbols.bytes.end());
        const auto bytes = to_device<std::byte>(shifted);
        const phy::gpu::SymbolView view(symbols.format, bytes.subspan(offset, symbols.bytes.size()));
        DeviceBuffer<SymbolSums> sums(*device_, (symbols.size() + row - 1) / row);
        DeviceBuffer<std::byte> workspace(*device_,
                                          phy::gpu::SymbolMeter::workspace_bytes(symbols.size(), row));
        const phy::gpu::Stream stream(*device_);
        const phy::gpu::SymbolMeter meter(*device_, config);
        if (sent != nullptr) {
            const auto points = to_device<phy::cf32>(*sent);
            meter(view, points, row, sums, workspace, stream);
            stream.synchronize();
        } else {
            meter(view, row, sums, workspace, stream, first_symbol);
            stream.synchronize();
        }
        return to_host(sums);
    }

    void expect_same_for_all_tunings(const StoredSymbols& symbols, std::size_t row) {
        const SymbolMeterConfig config = {.modulation = Modulation::qam256};
        const auto bytes = to_device<std::byte>(symbols.bytes);
        const auto expected = on_host(config, symbols, row);
        const phy::gpu::Stream stream(*device_);
        const phy::gpu::CurrentDevice current(*device_);
        for (const unsigned threads : {32U, 64U, 128U}) {
            for (const unsigned log2_blocks : {0U, 1U, 2U, 3U}) {
                const phy::gpu::detail::SymbolTuning tuning = {threads, log2_blocks};
                DeviceBuffer<SymbolSums> sums(*device_, expected.size());
                DeviceBuffer<SymbolSums> workspace(
                    *device_, phy::gpu::detail::symbol_workspace(symbols.size(), row, tuning));
                phy::gpu::detail::launch({.format = SampleFormat::cf32,
                                          .symbols = bytes.data(),
                                          .size = symbols.size(),
                                          .sent = nullptr,
                                          .noise_variance = nullptr,
                                          .row = row,
                                          .odd = false,
                                          .scale = phy::detail::symbol_scale(config, SampleFormat::cf32),
                                          .sums = sums.data(),
                                          .workspace = workspace.data()},
                                         tuning, stream);
                stream.synchronize();
                EXPECT_TRUE(same_bytes(to_host(sums), expected))
                    << threads << " threads, 2^" << log2_blocks << " blocks, rows of " << row;
            }
        }
    }

    std::optional<phy::gpu::Device> device_;
};

TEST_F(CudaSymbolMeter, BytesAreThoseOfTheCpu) {
    for (const Modulation modulation : phy::all_modulations) {
        for (const SampleFormat format : phy::all_sample_formats) {
            const std::uint64_t seed = 31;
            SCOPED_TRACE(std::string(to_string(modulation)) + " " + std::string(to_string(format)) +
                         " seed " + std::to_string(seed));
            const NoisySymbols noisy = make_noisy(modulation, format, 60'013, 0.02, 1.3, seed);
            const SymbolMeterConfig config = {
                .modulation = modulation, .full_scale = full_scale_of(format), .gain = 1.27F};
            for (const std::size_t row : fewer_cases(awkward_rows())) {
                SCOPED_TRACE(row);
                EXPECT_TRUE(same_bytes(measure(config, noisy.received, row, nullptr, 1),
                                       on_host(config, noisy.received, row, nullptr, 1)));
                EXPECT_TRUE(same_bytes(measure(config, noisy.received, row, &noisy.sent),
                                       on_host(config, noisy.received, row, &noisy.sent)));
            }
        }
    }
}

TEST_F(CudaSymbolMeter, SumsWithNoiseAreThoseOfTheCpu) {
    for (const Modulation modulation : phy::all_modulations) {
        const NoisySymbols noisy = make_noisy(modulation, SampleFormat::cf32, 60'013, 0.02, 1.0, 9);
        std::vector<phy::cf32> symbols(60'013);
        std::memcpy(symbols.data(), noisy.received.bytes.data(), noisy.received.bytes.size());
        std::vector<float> noise(symbols.size());
        for (std::size_t n = 0; n < noise.size(); ++n)
            noise[n] = n % 101 == 7 ? std::numeric_limits<float>::infinity()
                                    : 0.02F * static_cast<float>(n % 64 + 1) / 16.0F;
        const auto there = to_device<phy::cf32>(symbols);
        const auto noise_there = to_device<float>(noise);
        for (const std::size_t row : fewer_cases(awkward_rows())) {
            std::vector<SymbolSums> expected((symbols.size() + row - 1) / row);
            phy::SymbolMeter(Host({.threads = 0}), {.modulation = modulation})(symbols, noise, row, expected,
                                                                               1);
            DeviceBuffer<SymbolSums> sums(*device_, expected.size());
            DeviceBuffer<std::byte> workspace(*device_,
                                              phy::gpu::SymbolMeter::workspace_bytes(symbols.size(), row));
            const phy::gpu::Stream stream(*device_);
            phy::gpu::SymbolMeter(*device_, {.modulation = modulation})(there, noise_there, row, sums,
                                                                        workspace, stream, 1);
            stream.synchronize();
            EXPECT_TRUE(same_bytes(to_host(sums), expected)) << to_string(modulation) << " " << row;
        }
    }
}

TEST_F(CudaSymbolMeter, AwkwardNumbers) {
    for (const Awkward kind : all_awkward) {
        SCOPED_TRACE(static_cast<int>(kind));
        const StoredSymbols symbols = make_awkward(kind, 30'011, 17);
        for (const Modulation modulation : {Modulation::bpsk, Modulation::qpsk, Modulation::qam1024}) {
            const SymbolMeterConfig config = {.modulation = modulation};
            EXPECT_TRUE(same_bytes(measure(config, symbols, 30'011), on_host(config, symbols, 30'011)));
            EXPECT_TRUE(same_bytes(measure(config, symbols, 7), on_host(config, symbols, 7)));
        }
    }
}

TEST_F(CudaSymbolMeter, ANaNInAnyBlock) {
    const NoisySymbols noisy = make_noisy(Modulation::qam16, SampleFormat::cf32, 5003, 0.01, 1.0, 3);
    for (const std::uint64_t step : fewer_indices(50)) {
        StoredSymbols broken = noisy.received;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        std::memcpy(broken.bytes.data() + step * 101 * sizeof(phy::cf32), &nan, sizeof nan);
        const SymbolMeterConfig config = {.modulation = Modulation::qam16};
        EXPECT_TRUE(same_bytes(measure(config, broken, 2500), on_host(config, broken, 2500))) << step;
    }
}

TEST_F(CudaSymbolMeter, NothingIsARowLess) {
    const phy::gpu::SymbolMeter meter(*device_, {});
    const phy::gpu::Stream stream(*device_);
    EXPECT_EQ(phy::gpu::SymbolMeter::workspace_bytes(0, 5), 0U);
    EXPECT_EQ(phy::gpu::SymbolMeter::workspace_bytes(5, 0), 0U);
    meter(phy::gpu::SymbolView(), 5, phy::gpu::DeviceSpan<SymbolSums>(), phy::gpu::DeviceSpan<std::byte>(),
          stream);
    stream.synchronize();
}

TEST_F(CudaSymbolMeter, ANaNAtAnyPlace) {
    const NoisySymbols noisy = make_noisy(Modulation::qam16, SampleFormat::cf32, 70, 0.01, 1.0, 3);
    for (const std::uint64_t at : fewer_indices(140)) {
        StoredSymbols broken = noisy.received;
        const float nan = std::numeric_limits<float>::quiet_NaN();
        std::memcpy(broken.bytes.data() + at * sizeof nan, &nan, sizeof nan);
        const SymbolMeterConfig config = {.modulation = Modulation::qam16};
        const auto sums = measure(config, broken, 70);
        EXPECT_EQ(sums.front().not_finite, 1U);
        EXPECT_TRUE(same_bytes(sums, on_host(config, broken, 70)));
    }
}

TEST_F(CudaSymbolMeter, AnyAlignment) {
    for (const SampleFormat format : phy::all_sample_formats) {
        const NoisySymbols noisy = make_noisy(Modulation::qam64, format, 5003, 0.02, 1.0, 23);
        const SymbolMeterConfig config = {.modulation = Modulation::qam64,
                                          .full_scale = full_scale_of(format)};
        const auto expected = on_host(config, noisy.received, 777);
        for (std::size_t offset = 0; offset <= 8; ++offset)
            EXPECT_TRUE(same_bytes(measure(config, noisy.received, 777, nullptr, 0, offset), expected))
                << offset;
    }
}

TEST_F(CudaSymbolMeter, ThreadsAndBlocksOfAKernelDoNotMatter) {
    const std::size_t count = 500'003;
    std::vector<StoredSymbols> inputs = {
        make_noisy(Modulation::qam256, SampleFormat::cf32, count, 0.001, 1.0, 41).received};
    for (const Awkward kind : all_awkward)
        inputs.push_back(make_awkward(kind, count, 42));
    for (const StoredSymbols& symbols : inputs) {
        SCOPED_TRACE(&symbols - inputs.data());
        for (const std::size_t row : {count, std::size_t{45'864}, std::size_t{12}})
            expect_same_for_all_tunings(symbols, row);
    }
}

TEST_F(CudaSymbolMeter, ALongRow) {
    const std::size_t count = takes_fewer_cases() ? (1U << 20) + 77 : (1U << 27) + 77;
    const NoisySymbols noisy = make_noisy(Modulation::qam256, SampleFormat::ci16, 1U << 18, 0.001, 1.0, 43);
    StoredSymbols symbols = {SampleFormat::ci16, std::vector<std::byte>(count * 4)};
    for (std::size_t at = 0; at < symbols.bytes.size(); at += noisy.received.bytes.size()) {
        const std::size_t some = std::min(noisy.received.bytes.size(), symbols.bytes.size() - at);
        std::memcpy(symbols.bytes.data() + at, noisy.received.bytes.data(), some);
    }
    const SymbolMeterConfig config = {.modulation = Modulation::qam256,
                                      .full_scale = full_scale_of(SampleFormat::ci16)};
    EXPECT_TRUE(same_bytes(measure(config, symbols, count), on_host(config, symbols, count)));
}

TEST_F(CudaSymbolMeter, RunsInAGraph) {
    const NoisySymbols noisy = make_noisy(Modulation::qam16, SampleFormat::cf16, 45'864, 0.01, 1.0, 51);
    const SymbolMeterConfig config = {.modulation = Modulation::qam16};
    const auto bytes = to_device<std::byte>(noisy.received.bytes);
    const std::size_t row = 45'864;
    DeviceBuffer<SymbolSums> sums(*device_, 1);
    DeviceBuffer<std::byte> workspace(*device_, phy::gpu::SymbolMeter::workspace_bytes(row, row));
    const phy::gpu::SymbolMeter meter(*device_, config);
    const phy::gpu::Graph graph(*device_, [&](cudaStream_t stream) {
        meter({SampleFormat::cf16, bytes.span()}, row, sums, workspace, stream);
    });
    const phy::gpu::Stream stream(*device_);
    fill_async(sums, 0, stream);
    graph(stream);
    stream.synchronize();
    EXPECT_TRUE(same_bytes(to_host(sums), on_host(config, noisy.received, row)));
}

TEST_F(CudaSymbolMeter, WrongArgumentsThrow) {
    EXPECT_THROW(phy::gpu::SymbolMeter(*device_, {.gain = -1.0F}), phy::ArgumentError);
    const phy::gpu::SymbolMeter meter(*device_, {});
    const DeviceBuffer<phy::cf32> symbols(*device_, 5000);
    DeviceBuffer<SymbolSums> sums(*device_, 1);
    const std::size_t needed = phy::gpu::SymbolMeter::workspace_bytes(5000, 5000);
    ASSERT_GT(needed, 0U);
    DeviceBuffer<std::byte> workspace(*device_, needed + 128);
    const phy::gpu::Stream stream(*device_);
    EXPECT_THROW(meter(symbols, 0, sums, workspace, stream), phy::ArgumentError);
    EXPECT_THROW(meter(symbols, 100, sums, workspace, stream), phy::ArgumentError);
    EXPECT_THROW(meter(symbols, 5000, sums, workspace.first(needed - 1), stream), phy::ArgumentError);
    EXPECT_THROW(meter(symbols, 5000, sums, workspace.subspan(128, needed), stream), phy::ArgumentError);
    EXPECT_THROW(meter(symbols, symbols.first(4999), 5000, sums, workspace, stream), phy::ArgumentError);
}

/// Symbols through a pipeline, as one row.
SymbolSums through_pipeline(const std::vector<phy::Place>& places, const StoredSymbols& symbols,
                            const SymbolMeterConfig& config, std::size_t chunk) {
    phy::MeasureStage stage({.meter = config, .input = symbols.format, .row = 4096});
    phy::Pipeline pipeline(places, stage, {.chunk = chunk, .buffer_sets = 3});
    std::vector<SymbolSums> rows((symbols.size() + 4095) / 4096);
    phy::MemorySource source(stage.inputs(), {symbols.bytes});
    phy::MemorySink sink(stage.outputs(), {std::as_writable_bytes(std::span(rows))});
    pipeline.run(source, sink);
    phy::NodeJoiner<SymbolSums, phy::JoinSymbolSums> joiner;
    for (const SymbolSums& sums : rows)
        joiner.add(sums);
    return joiner.root({});
}

void expect_same_through_pipelines(const phy::gpu::Device& device, const StoredSymbols& symbols) {
    const SymbolMeterConfig config = {.modulation = Modulation::qam64,
                                      .full_scale = full_scale_of(symbols.format)};
    const SymbolSums expected = on_host(config, symbols, symbols.size()).front();
    std::vector<phy::Place> all;
    for (const phy::gpu::Device& each : phy::gpu::Device::all())
        all.emplace_back(each);
    for (const std::size_t chunk : {std::size_t{4096}, std::size_t{50'000}, std::size_t{1} << 20}) {
        EXPECT_TRUE(same_bytes(through_pipeline({Host()}, symbols, config, chunk), expected)) << chunk;
        EXPECT_TRUE(same_bytes(through_pipeline({device}, symbols, config, chunk), expected)) << chunk;
        EXPECT_TRUE(same_bytes(through_pipeline(all, symbols, config, chunk), expected)) << chunk;
    }
}

TEST_F(CudaSymbolMeter, PipelinesGiveTheSameBytes) {
    const std::size_t count = 500'009;
    std::vector<StoredSymbols> inputs = {
        make_noisy(Modulation::qam64, SampleFormat::ci8, count, 0.01, 1.0, 61).received,
        make_awkward(Awkward::not_finite, count, 62), make_awkward(Awkward::tiny, count, 63)};
    for (const StoredSymbols& symbols : inputs)
        expect_same_through_pipelines(*device_, symbols);
}

}  // namespace
}  // namespace phy_test
