#include <gtest/gtest.h>

#include "phy/core/error.hpp"
#include "resampler/resampler_cases.hpp"
#include "support/fewer_cases.hpp"
#include "support/gpu.hpp"
#include "support/guarded_output.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;  // NOLINT(google-build-using-namespace)
using phy::cf32;
using phy::ResampledRow;
using phy::ResamplerConfig;
using phy::SampleFormat;
using phy::gpu::copy_async;
using phy::gpu::DeviceBuffer;

/// What the GPU makes of samples that lie `shift` bytes behind a multiple of 256; outputs lie 4 bytes behind
/// one where `odd`.
std::vector<cf32> resampled_on_gpu(const ResamplerConfig& config, phy::SymbolView samples,
                                   std::span<const ResampledRow> rows, std::size_t outputs,
                                   std::size_t shift = 0, bool odd = false) {
    const phy::gpu::Device device;
    const phy::gpu::Stream stream(device);
    const phy::gpu::Resampler resample(device, config);
    DeviceBuffer<std::byte> in(device, samples.bytes().size() + shift);
    DeviceBuffer<ResampledRow> of_rows(device, rows.size());
    GuardedOutput out(device, stream, rows.size() * outputs, odd);
    copy_async(in.subspan(shift, samples.bytes().size()), samples.bytes(), stream);
    copy_async(of_rows, rows, stream);
    resample({samples.format(), in.subspan(shift, samples.bytes().size())}, of_rows, out.span(), stream);
    return out.read();
}

class GpuResampler : public testing::TestWithParam<SampleFormat> {
protected:
    void SetUp() override { PHY_NEEDS_GPU(); }

    std::uint32_t seed_ = random_seed();
    std::mt19937 random_{seed_};
};

TEST_P(GpuResampler, TheBytesOfACpu) {
    const SampleFormat format = GetParam();
    for (int i = 0; i < fewer_times(12); ++i) {
        const ResamplerConfig config = random_rates(random_);
        SCOPED_TRACE(name_of(config) + ", seed " + std::to_string(seed_));
        const std::vector<ResampledRow> rows =
            random_rows(random_, phy::Resampler(phy::Host(), config).step(), 1 + random_() % 5);
        const std::size_t outputs = 1 + random_() % 4000;
        const Bytes bytes = random_samples(format, rows.size() * (1 + random_() % 5000), next_seed(random_));
        const phy::SymbolView samples(format, bytes);
        const std::size_t component = size_of(format) / 2;
        ASSERT_TRUE(bits_of(resampled_on_gpu(config, samples, rows, outputs, component * (random_() % 3),
                                             random_() % 2 == 0)) ==
                    bits_of(resampled(phy::Host(), config, samples, rows, outputs)));
    }
}

TEST_P(GpuResampler, ManyTaps) {
    const SampleFormat format = GetParam();
    for (const double ratio : {1.0, 0.25, 1.0 / 64.0, 64.0}) {
        const double smaller = std::min(1.0, ratio);
        const ResamplerConfig config = {
            .input_rate = 100e6, .output_rate = 100e6 * ratio, .bandwidth = 100e6 * (smaller - 0.0095)};
        SCOPED_TRACE(name_of(config));
        const std::vector<ResampledRow> rows =
            random_rows(random_, phy::Resampler(phy::Host(), config).step(), 2);
        const Bytes bytes = random_samples(format, rows.size() * 20'000, next_seed(random_));
        ASSERT_TRUE(bits_of(resampled_on_gpu(config, {format, bytes}, rows, 1777)) ==
                    bits_of(resampled(phy::Host(), config, {format, bytes}, rows, 1777)));
    }
}

TEST_P(GpuResampler, OutputsOfRowsThatAreNotAllowedAreNaN) {
    const ResamplerConfig config = {.input_rate = 25e6, .output_rate = 30.72e6, .bandwidth = 18e6};
    const std::uint64_t step = phy::Resampler(phy::Host(), config).step();
    const Bytes bytes = random_samples(GetParam(), 4 * 1000);
    const std::uint64_t far = std::uint64_t{1} << 62U;
    const std::vector<ResampledRow> wrong_rows = {{.step = 0},
                                                  {.step = step - step / 900},
                                                  {.step = step + step / 900},
                                                  {.step = ~std::uint64_t{0}},
                                                  {.position = far, .step = step},
                                                  {.position = 0 - step, .step = step}};
    for (const ResampledRow& wrong : wrong_rows) {
        const std::vector<ResampledRow> rows = {{.step = step}, wrong, {.step = step}, {.step = step}};
        const std::vector<cf32> output = resampled_on_gpu(config, {GetParam(), bytes}, rows, 500);
        for (std::size_t m = 0; m < output.size(); ++m) {
            const bool is_nan = std::isnan(output[m].real()) && std::isnan(output[m].imag());
            ASSERT_EQ(is_nan, m / 500 == 1) << m;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(All, GpuResampler, testing::ValuesIn(phy::all_sample_formats),
                         [](const auto& format) { return std::string(to_string(format.param)); });

}  // namespace
