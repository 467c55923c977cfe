// What is summed over soft bits on a GPU: the bytes of the CPU.

#include "phy/measure/soft_bit_meter_cuda.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "measure/soft_bit_cases.hpp"
#include "phy/core/error.hpp"
#include "phy/measure/cuda/soft_bit_launch.hpp"
#include "support/fewer_cases.hpp"
#include "support/gpu.hpp"

namespace {

using phy::SoftBitFormat;
using phy::SoftBitSums;
using phy::gpu::copy_async;
using phy::gpu::Device;
using phy::gpu::DeviceBuffer;
using phy::gpu::Stream;
using phy_test::random_soft_bits;
using phy_test::SoftBitCase;

constexpr unsigned seed = 38212;
constexpr std::size_t block = 4096;
constexpr int clip = 31;

std::vector<SoftBitSums> on_host(const SoftBitCase& in, std::size_t row, bool compares) {
    std::vector<SoftBitSums> sums((in.size() + row - 1) / row);
    phy::SoftBitMeter meter(phy::Host({.threads = 0}), {.llr = {.clip = clip}});
    if (compares) {
        meter(in.view(), in.truth, row, sums);
    } else {
        meter(in.view(), row, sums);
    }
    return sums;
}

/// Where arrays begin, in bytes from a multiple of 256.
struct Offsets {
    std::size_t soft_bits = 0;
    std::size_t truth = 0;
};

/// Soft bits and transmitted bits in device memory, each in memory of its own that ends with them, so that
/// memcheck finds what reads on.
class DeviceCase {
public:
    DeviceCase(const Device& device, const SoftBitCase& in, Offsets offsets = {})
        : format_(in.format),
          soft_bits_(device, offsets.soft_bits + in.soft_bits.size()),
          truth_(device, offsets.truth + in.size()),
          offsets_(offsets) {
        const Stream stream(device);
        copy_async(soft_bits_.subspan(offsets.soft_bits, in.soft_bits.size()), in.soft_bits, stream);
        copy_async(truth_.subspan(offsets.truth, in.size()), in.truth, stream);
        stream.synchronize();
    }

    [[nodiscard]] std::size_t size() const { return truth_.size() - offsets_.truth; }
    [[nodiscard]] phy::gpu::SoftBitView view() const {
        return {format_, soft_bits_.subspan(offsets_.soft_bits, soft_bits_.size() - offsets_.soft_bits)};
    }
    [[nodiscard]] phy::gpu::DeviceSpan<const std::uint8_t> truth() const {
        return truth_.subspan(offsets_.truth, size());
    }

private:
    SoftBitFormat format_;
    DeviceBuffer<std::byte> soft_bits_;
    DeviceBuffer<std::uint8_t> truth_;
    Offsets offsets_;
};

std::vector<SoftBitSums> to_host(const DeviceBuffer<SoftBitSums>& sums, const Stream& stream) {
    std::vector<SoftBitSums> copy(sums.size());
    copy_async(copy, sums, stream);
    stream.synchronize();
    return copy;
}

std::vector<SoftBitSums> on_device(const Device& device, const DeviceCase& in, std::size_t row,
                                   bool compares) {
    const Stream stream(device);
    DeviceBuffer<SoftBitSums> sums(device, (in.size() + row - 1) / row);
    DeviceBuffer<std::byte> workspace(device, phy::gpu::SoftBitMeter::workspace_bytes(in.size(), row));
    const phy::gpu::SoftBitMeter meter(device, {.llr = {.clip = clip}});
    if (compares) {
        meter(in.view(), in.truth(), row, sums, workspace, stream);
    } else {
        meter(in.view(), row, sums, workspace, stream);
    }
    return to_host(sums, stream);
}

class CudaSoftBitMeterOf : public testing::TestWithParam<std::tuple<SoftBitFormat, bool>> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
    static SoftBitFormat format() { return std::get<0>(GetParam()); }
    static bool compares() { return std::get<1>(GetParam()); }
};

TEST_P(CudaSoftBitMeterOf, EqualsTheCpuAtEveryLength) {
    const Device device;
    const SoftBitCase all = random_soft_bits(format(), 3 * block + 77, seed);
    std::vector<std::uint64_t> lengths = phy_test::fewer_indices(400);
    for (const std::uint64_t length : {block - 1, block, block + 1, 2 * block, 2 * block + 129, all.size()})
        lengths.push_back(length);
    for (const std::uint64_t length : lengths) {
        if (length == 0) continue;
        SoftBitCase in = all;
        in.truth.resize(length);
        in.soft_bits.resize(length * size_of(format()));
        ASSERT_EQ(on_device(device, DeviceCase(device, in), length, compares()),
                  on_host(in, length, compares()))
            << length << " soft bits, seed " << seed;
    }
}

TEST_P(CudaSoftBitMeterOf, EqualsTheCpuForRowsOfAnyLength) {
    const Device device;
    const SoftBitCase all = random_soft_bits(format(), 70'001, seed);
    const DeviceCase there(device, all);
    for (const std::size_t row : {std::size_t{1}, std::size_t{3}, std::size_t{37}, std::size_t{1008},
                                  std::size_t{1002}, block, 2 * block + 2, std::size_t{20'003}}) {
        ASSERT_EQ(on_device(device, there, row, compares()), on_host(all, row, compares()))
            << "rows of " << row << ", seed " << seed;
    }
}

TEST_P(CudaSoftBitMeterOf, EqualsTheCpuAtEveryAlignment) {
    const Device device;
    const SoftBitCase all = random_soft_bits(format(), 2 * block + 501, seed);
    const auto expected = on_host(all, 3001, compares());
    for (std::size_t of_soft_bits = 0; of_soft_bits < 17; ++of_soft_bits) {
        for (const std::size_t of_truth : {std::size_t{0}, std::size_t{1}, std::size_t{4}, of_soft_bits}) {
            const DeviceCase there(device, all, {of_soft_bits, of_truth});
            ASSERT_EQ(on_device(device, there, 3001, compares()), expected)
                << "soft bits at " << of_soft_bits << ", truth at " << of_truth << ", seed " << seed;
        }
    }
}

TEST_P(CudaSoftBitMeterOf, GivesTheSameForUnitsOfAnySize) {
    const Device device;
    const phy::gpu::CurrentDevice current(device);
    const Stream stream(device);
    const SoftBitCase all = random_soft_bits(format(), 300 * block + 1234, seed);
    const DeviceCase there(device, all);
    for (const std::size_t row : {all.size(), 40 * block + 3, std::size_t{1000}}) {
        const auto expected = on_host(all, row, compares());
        for (const unsigned threads : {32U, 64U, 128U}) {
            for (const unsigned log2_blocks : {0U, 1U, 2U, 3U, 4U}) {
                const phy::gpu::detail::SoftBitTuning tuning = {threads, log2_blocks};
                DeviceBuffer<SoftBitSums> sums(device, expected.size());
                DeviceBuffer<SoftBitSums> workspace(
                    device, phy::gpu::detail::soft_bit_workspace(all.size(), row, tuning));
                launch({.format = format(),
                        .soft_bits = there.view().data(),
                        .truth = compares() ? there.truth().data() : nullptr,
                        .size = all.size(),
                        .row = row,
                        .clip = clip,
                        .sums = sums.data(),
                        .workspace = workspace.data()},
                       tuning, stream);
                ASSERT_EQ(to_host(sums, stream), expected) << threads << " threads, 2^" << log2_blocks
                                                           << " blocks, rows of " << row << ", seed " << seed;
            }
        }
    }
}

TEST_P(CudaSoftBitMeterOf, EqualsTheCpuInALongRow) {
    const Device device;
    const std::size_t count = phy_test::takes_fewer_cases() ? (1U << 20) + 77 : (1U << 26) + 77;
    const SoftBitCase some = random_soft_bits(format(), 1U << 16, seed);
    SoftBitCase all{format(), std::vector<std::byte>(count * size_of(format())),
                    std::vector<std::uint8_t>(count)};
    for (std::size_t i = 0; i < all.soft_bits.size(); ++i)
        all.soft_bits[i] = some.soft_bits[i % some.soft_bits.size()];
    for (std::size_t i = 0; i < count; ++i)
        all.truth[i] = some.truth[i % some.size()];
    EXPECT_EQ(on_device(device, DeviceCase(device, all), count, compares()), on_host(all, count, compares()))
        << "seed " << seed;
}

TEST_P(CudaSoftBitMeterOf, LeavesOutWhatIsNotFiniteWhereverItIs) {
    const Device device;
    const bool is_half = format() == SoftBitFormat::float16;
    if (format() == SoftBitFormat::int8) return;  // integers are finite
    constexpr std::size_t count = 300;
    std::vector<std::uint32_t> not_finite = {0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00001, 0x7F800001};
    if (is_half) not_finite = {0x7C00, 0xFC00, 0x7E00, 0xFE01, 0x7C01};
    for (const std::uint64_t at : phy_test::fewer_indices(count)) {
        SoftBitCase in{format(), std::vector<std::byte>(count * size_of(format())),
                       std::vector<std::uint8_t>(count, 1)};
        for (std::size_t i = 0; i < count; ++i)
            phy_test::set_bits(in, i, phy_test::soft_bit_of(format(), i % 2 == 0 ? -2.0 : -0.0));
        phy_test::set_bits(in, at, not_finite[at % not_finite.size()]);
        const auto sums = on_device(device, DeviceCase(device, in), count, compares());
        EXPECT_EQ(sums.front().not_finite, 1U) << "at " << at;
        EXPECT_EQ(sums, on_host(in, count, compares())) << "at " << at;
    }
}

TEST_P(CudaSoftBitMeterOf, RunsInAGraph) {
    const Device device;
    const SoftBitCase all = random_soft_bits(format(), 20 * block + 5, seed);
    const DeviceCase there(device, all);
    DeviceBuffer<SoftBitSums> sums(device, 1);
    DeviceBuffer<std::byte> workspace(device,
                                      phy::gpu::SoftBitMeter::workspace_bytes(all.size(), all.size()));
    const phy::gpu::SoftBitMeter meter(device, {.llr = {.clip = clip}});
    const phy::gpu::Graph graph(device, [&](cudaStream_t stream) {
        if (compares()) {
            meter(there.view(), there.truth(), all.size(), sums, workspace, stream);
        } else {
            meter(there.view(), all.size(), sums, workspace, stream);
        }
    });
    const Stream stream(device);
    for (int turn = 0; turn < 2; ++turn) {
        fill_async(sums, 0, stream);
        graph(stream);
        EXPECT_EQ(to_host(sums, stream), on_host(all, all.size(), compares())) << "seed " << seed;
    }
}

std::string test_name(const testing::TestParamInfo<CudaSoftBitMeterOf::ParamType>& info) {
    return std::string(to_string(std::get<0>(info.param))) +
           (std::get<1>(info.param) ? "_compared" : "_alone");
}
INSTANTIATE_TEST_SUITE_P(, CudaSoftBitMeterOf,
                         testing::Combine(testing::ValuesIn(phy::all_soft_bit_formats), testing::Bool()),
                         test_name);

class CudaSoftBitMeter : public testing::Test {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }
};

TEST_F(CudaSoftBitMeter, RefusesWhatDoesNotFit) {
    const Device device;
    const Stream stream(device);
    EXPECT_THROW(phy::gpu::SoftBitMeter(device, {.llr = {.clip = 0}}), phy::ArgumentError);
    EXPECT_THROW(phy::gpu::SoftBitMeter(device, {.llr = {.scale = 0.0F}}), phy::ArgumentError);
    const phy::gpu::SoftBitMeter meter(device, {});
    EXPECT_EQ(meter.device(), device);
    EXPECT_EQ(meter.config(), phy::SoftBitMeterConfig());
    const std::size_t count = 3 * block;
    const DeviceBuffer<float> soft_bits(device, count);
    const DeviceBuffer<std::uint8_t> truth(device, count);
    DeviceBuffer<SoftBitSums> sums(device, 1);
    const std::size_t needed = phy::gpu::SoftBitMeter::workspace_bytes(count, count);
    ASSERT_GT(needed, 0U);
    DeviceBuffer<std::byte> workspace(device, needed + 128);
    EXPECT_EQ(phy::gpu::SoftBitMeter::workspace_bytes(count, block), 0U);
    EXPECT_EQ(phy::gpu::SoftBitMeter::workspace_bytes(0, block), 0U);
    EXPECT_THROW(meter(soft_bits, 0, sums, workspace, stream), phy::ArgumentError);
    EXPECT_THROW(meter(soft_bits, block, sums, workspace, stream), phy::ArgumentError);
    EXPECT_THROW(meter(soft_bits, count, sums, workspace.first(needed - 1), stream), phy::ArgumentError);
    EXPECT_THROW(meter(soft_bits, count, sums, workspace.subspan(128, needed), stream), phy::ArgumentError);
    EXPECT_THROW(meter(soft_bits, truth.first(count - 1), count, sums, workspace, stream),
                 phy::ArgumentError);
    EXPECT_THROW(meter({static_cast<SoftBitFormat>(3), {}}, count, sums, workspace, stream),
                 phy::ArgumentError);
    EXPECT_NO_THROW(meter(soft_bits.first(0), 1, sums.first(0), workspace, stream));
}

}  // namespace
