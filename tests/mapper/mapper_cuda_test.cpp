#include "phy/mapper/mapper.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "phy/core/error.hpp"
#include "support/gpu.hpp"

namespace {

using phy::BitPacking;
using phy::Modulation;
using phy::SampleFormat;
using phy::gpu::copy_async;
using phy::gpu::Device;
using phy::gpu::device_span;
using phy::gpu::DeviceBuffer;
using phy::gpu::DeviceSpan;
using phy::gpu::Stream;
using Bytes = std::vector<std::uint8_t>;

constexpr unsigned seed = 5138;

Bytes random_bytes(std::size_t count) {
    std::mt19937 random(seed);
    Bytes bytes(count);
    for (std::uint8_t& byte : bytes)
        byte = static_cast<std::uint8_t>(random() >> 24);
    return bytes;
}

std::size_t bytes_of_bits(const phy::Mapper::Config& config, std::size_t symbols) {
    const std::size_t bits = symbols * bits_per_symbol(config.modulation);
    return config.packing == BitPacking::packed ? (bits + 7) / 8 : bits;
}

/// Where a call finds its bits and puts its symbols, in bytes from a multiple of 256.
struct Place {
    std::size_t bits = 0;
    std::size_t symbols = 0;
};

/// Symbols of that format in bytes of a device.
phy::gpu::SymbolSpan symbols_at(DeviceSpan<std::uint8_t> bytes, SampleFormat format) {
    return {format, phy::gpu::as_bytes(bytes)};
}

/// A mapper on both sides, and memory of both for up to max_symbols.
class Pair {
public:
    Pair(const phy::Mapper::Config& config, SampleFormat format, std::size_t max_symbols)
        : config_(config),
          format_(format),
          here_(phy::Host(), config),
          there_(device_, config),
          bits_(random_bytes(bytes_of_bits(config, max_symbols))),
          before_(random_bytes(max_symbols * size_of(format) + 2 * margin)),
          device_bits_(device_, bits_.size() + margin),
          device_symbols_(device_, before_.size()) {}

    /// Maps on both sides and compares all bytes, also those around the symbols.
    void compare(std::size_t symbols, Place place = {}, std::uint64_t first_symbol = 0) {
        SCOPED_TRACE(std::to_string(symbols) + " symbols from " + std::to_string(first_symbol) +
                     ", bits at " + std::to_string(place.bits) + ", symbols at " +
                     std::to_string(place.symbols) + ", seed " + std::to_string(seed));
        const auto bits = std::span(std::as_const(bits_)).first(bytes_of_bits(config_, symbols));
        const std::size_t touched = place.symbols + symbols * size_of(format_) + margin;

        Bytes expected(before_.begin(), before_.begin() + static_cast<std::ptrdiff_t>(touched));
        here_(bits, phy::SymbolSpan(format_, expected.data() + place.symbols, symbols), first_symbol);

        const DeviceSpan<std::uint8_t> device_bits = device_bits_.subspan(place.bits, bits.size());
        const DeviceSpan<std::uint8_t> device_symbols = device_symbols_.first(touched);
        copy_async(device_bits, bits, stream_);
        copy_async(device_symbols, std::span(before_).first(touched), stream_);
        there_(device_bits,
               symbols_at(device_symbols.subspan(place.symbols, symbols * size_of(format_)), format_),
               stream_, first_symbol);
        Bytes actual(touched);
        copy_async(actual, device_symbols, stream_);
        stream_.synchronize();

        const auto [difference, unused] = std::mismatch(actual.begin(), actual.end(), expected.begin());
        ASSERT_EQ(difference - actual.begin(), actual.end() - actual.begin()) << "first byte that differs";
    }

private:
    static constexpr std::size_t margin = 64;

    phy::Mapper::Config config_;
    SampleFormat format_;
    Device device_;
    Stream stream_{device_};
    phy::Mapper here_;
    phy::gpu::Mapper there_;
    Bytes bits_;
    Bytes before_;
    DeviceBuffer<std::uint8_t> device_bits_;
    DeviceBuffer<std::uint8_t> device_symbols_;
};

class GpuMapperOf : public testing::TestWithParam<std::tuple<Modulation, BitPacking, SampleFormat>> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    static phy::Mapper::Config config() {
        return {
            .modulation = std::get<0>(GetParam()), .packing = std::get<1>(GetParam()), .full_scale = 9000.0F};
    }
    static SampleFormat format() { return std::get<2>(GetParam()); }
};

TEST_P(GpuMapperOf, EqualsTheCpuAtEveryLength) {
    Pair pair(config(), format(), 300);
    for (const std::size_t symbols : phy_test::fewer_indices(301)) {
        pair.compare(symbols, {}, symbols / 2);
        if (HasFatalFailure()) return;
    }
}

TEST_P(GpuMapperOf, EqualsTheCpuAtEveryAlignment) {
    Pair pair(config(), format(), 2100);
    // In this order every eighth place together have every alignment of either.
    std::vector<Place> places;
    for (std::size_t at_symbols = 0; at_symbols < 16; ++at_symbols) {
        for (std::size_t turn = 0; turn < 16; ++turn)
            places.push_back({(at_symbols + turn) % 16, 16 + at_symbols});
    }
    for (const Place& place : phy_test::fewer_cases(places)) {
        for (const std::size_t symbols : {37 + place.bits, 2085 + place.bits}) {
            pair.compare(symbols, place, place.bits + place.symbols);
            if (HasFatalFailure()) return;
        }
    }
}

TEST_P(GpuMapperOf, EqualsTheCpuWhereBlocksLoop) {
    constexpr std::size_t symbols = (std::size_t{1} << 20) + 7;
    Pair pair(config(), format(), 16 * symbols);
    pair.compare(symbols, {}, 0);
    pair.compare(symbols, {}, 1);
    pair.compare(symbols - 7, {}, 3);
    pair.compare(symbols, {5, 0}, 2);
    pair.compare(symbols, {3, 8}, 5);
    pair.compare(symbols, {0, 17}, 4);
    pair.compare(16 * symbols, {}, 1);
}

/// What memcheck needs to find a call that reads or writes beside its arguments.
TEST_P(GpuMapperOf, StaysInItsMemory) {
    const Device device;
    const Stream stream(device);
    const phy::Mapper here(phy::Host(), config());
    const phy::gpu::Mapper there(device, config());
    for (const std::size_t symbols : {1U, 7U, 300U, 1001U}) {
        const Bytes bits = random_bytes(bytes_of_bits(config(), symbols));
        Bytes expected(symbols * size_of(format()));
        here(bits, phy::SymbolSpan(format(), expected.data(), symbols));
        DeviceBuffer<std::uint8_t> device_bits(device, bits.size());
        DeviceBuffer<std::uint8_t> device_symbols(device, expected.size());
        copy_async(device_bits, bits, stream);
        there(device_bits, symbols_at(device_symbols, format()), stream);
        Bytes actual(expected.size());
        copy_async(actual, device_symbols, stream);
        stream.synchronize();
        EXPECT_EQ(actual, expected) << symbols << " symbols, seed " << seed;
    }
}

std::string test_name(const testing::TestParamInfo<GpuMapperOf::ParamType>& info) {
    const auto [modulation, packing, format] = info.param;
    std::string name(to_string(modulation));
    std::erase(name, '-');
    return name + (packing == BitPacking::packed ? "_packed_" : "_one_per_byte_") +
           std::string(to_string(format));
}
INSTANTIATE_TEST_SUITE_P(, GpuMapperOf,
                         testing::Combine(testing::ValuesIn(phy::all_modulations),
                                          testing::Values(BitPacking::one_per_byte, BitPacking::packed),
                                          testing::Values(SampleFormat::cf32, SampleFormat::cf16,
                                                          SampleFormat::ci16)),
                         test_name);

class GpuMapper : public testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

void expect_cuda(cudaError_t error) {
    ASSERT_EQ(error, cudaSuccess) << cudaGetErrorString(error);
}

TEST_F(GpuMapper, RunsInAGraph) {
    constexpr std::size_t symbols = 5000;
    const phy::Mapper::Config config{.modulation = Modulation::qam256};
    const Device device;
    const Stream stream(device);
    const phy::Mapper here(phy::Host(), config);
    const phy::gpu::Mapper there(device, config);
    DeviceBuffer<std::uint8_t> device_bits(device, symbols * 8);
    DeviceBuffer<phy::cf32> device_symbols(device, symbols);

    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable = nullptr;
    expect_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    there(device_bits, device_symbols, stream);
    expect_cuda(cudaStreamEndCapture(stream, &graph));
    expect_cuda(cudaGraphInstantiate(&executable, graph, 0));

    const Bytes random = random_bytes(symbols * 8 + 1);
    for (const std::size_t first : {0U, 1U}) {
        const auto bits = std::span(random).subspan(first, symbols * 8);
        copy_async(device_bits, bits, stream);
        expect_cuda(cudaGraphLaunch(executable, stream));
        std::vector<phy::cf32> actual(symbols);
        std::vector<phy::cf32> expected(symbols);
        copy_async(actual, device_symbols, stream);
        stream.synchronize();
        here(bits, expected);
        EXPECT_EQ(actual, expected) << "replay " << first << ", seed " << seed;
    }
    expect_cuda(cudaGraphExecDestroy(executable));
    expect_cuda(cudaGraphDestroy(graph));
}

TEST_F(GpuMapper, MapsBeyondTwoToThe32Symbols) {
    if (phy_test::takes_fewer_cases()) GTEST_SKIP() << "takes too long under slow tools";
    constexpr std::size_t boundary = std::size_t{1} << 32;
    constexpr std::size_t symbols = boundary + 4099;
    constexpr std::size_t window = 8192;
    const Device device;
    if (device.free_memory() < 6 * boundary) GTEST_SKIP() << "needs 24 GiB of device memory";
    const phy::Mapper::Config config{.modulation = Modulation::pi2_bpsk, .full_scale = 8192.0F};
    const Stream stream(device);
    DeviceBuffer<std::uint8_t> device_bits(device, symbols);
    DeviceBuffer<phy::ci16> device_symbols(device, symbols);
    fill_async(device_bits, 0, stream);
    const Bytes bits = random_bytes(window);
    const std::size_t first = symbols - window;
    copy_async(device_bits.subspan(first, window), bits, stream);
    phy::gpu::Mapper(device, config)(device_bits, device_symbols, stream, 1);

    const phy::Mapper here(phy::Host(), config);
    std::vector<phy::ci16> expected(window);
    std::vector<phy::ci16> actual(window);
    here(bits, expected, 1 + first);
    copy_async(actual, device_symbols.subspan(first, window), stream);
    stream.synchronize();
    EXPECT_EQ(actual, expected) << "seed " << seed;
    here(Bytes(window), expected, 1);
    copy_async(actual, device_symbols.first(window), stream);
    stream.synchronize();
    EXPECT_EQ(actual, expected);
}

template <typename Call>
std::string error_of(Call call) {
    try {
        call();
    } catch (const phy::ArgumentError& error) {
        return error.what();
    }
    return "no ArgumentError";
}

TEST_F(GpuMapper, RefusesWhatTheCpuRefusesInTheSameWords) {
    const Device device;
    const Stream stream(device);
    for (const BitPacking packing : {BitPacking::one_per_byte, BitPacking::packed}) {
        const phy::Mapper::Config config{.modulation = Modulation::qam64, .packing = packing};
        const phy::Mapper here(phy::Host(), config);
        const phy::gpu::Mapper there(device, config);
        const std::size_t right_size = bytes_of_bits(config, 8);
        // Nothing reads or writes the memory, which has one address on both sides.
        std::vector<std::byte> room(right_size + 8 * sizeof(phy::cf32));
        const auto errors_agree = [&](std::size_t size, SampleFormat format, std::size_t symbols) {
            const auto bits = std::span(reinterpret_cast<const std::uint8_t*>(room.data()), size);
            const auto out = std::span(room).first(symbols * size_of(format));
            const std::string expected = error_of([&] { here(bits, {format, out}); });
            EXPECT_EQ(error_of([&] {
                          there(device_span(bits.data(), bits.size()),
                                {format, device_span(out.data(), out.size())}, stream);
                      }),
                      expected);
            EXPECT_TRUE(expected.starts_with("mapper: ")) << expected;
        };
        errors_agree(right_size - 1, SampleFormat::cf32, 8);
        errors_agree(right_size + 1, SampleFormat::cf32, 8);
        errors_agree(0, SampleFormat::cf32, 8);
        errors_agree(right_size, SampleFormat::ci8, 8);
        errors_agree(right_size, SampleFormat::ci16, 8);
        errors_agree(0, SampleFormat::ci8, 0);
        errors_agree(1, SampleFormat::cf32, 0);
    }
}

TEST_F(GpuMapper, ReportsItsConfiguration) {
    const Device device;
    const phy::gpu::Mapper mapper(
        device, {.modulation = Modulation::qam64, .packing = BitPacking::packed, .full_scale = 12.0F});
    EXPECT_EQ(mapper.device(), device);
    EXPECT_EQ(mapper.config().modulation, Modulation::qam64);
    EXPECT_EQ(mapper.config().packing, BitPacking::packed);
    EXPECT_EQ(mapper.config().full_scale, phy::FullScale(12.0F));
}

}  // namespace
