// Samples to resource elements on a GPU.

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"
#include "common/repeat.hpp"

namespace phy::bench {
namespace {

/// Gaussian noise; of floats about a tenth, of integers a tenth of their range.
std::vector<std::byte> noise(SampleFormat format, std::size_t samples) {
    std::mt19937 random(11);
    std::normal_distribution<float> gauss(0.0F, 0.1F);
    std::vector<std::byte> bytes(samples * size_of(format));
    with_constant(format, [&](auto constant) {
        using Component = ComponentOf<constant()>;
        for (std::size_t i = 0; i < 2 * samples; ++i) {
            const auto component = static_cast<Component>(gauss(random) * default_full_scale(format));
            std::memcpy(bytes.data() + i * sizeof component, &component, sizeof component);
        }
    });
    return bytes;
}

/// Slots of 273 resource blocks at 30 kHz with four antennas.
void measure(Suite& suite, SampleFormat format, std::size_t slots, double shift) {
    const auto name =
        fmt::format("ofdm/4x273/{}/{}_slots{}", to_string(format), slots, shift == 0.0 ? "" : "/shift");
    if (!suite.wants(name)) return;
    const OfdmConfig config = {.resource_blocks = 273,
                               .sample_rate = 122'880'000.0,
                               .center_frequency = 3.75e9,
                               .frequency_shift = shift,
                               .antennas = 4};
    const gpu::Device& device = suite.device();
    const gpu::OfdmDemodulator demodulate(device, {.ofdm = config, .window_offset = 0});
    const std::size_t samples = slots * 4 * demodulate.timing().slot_samples(0);
    // As many batches as caches do not hold, and memory of one more, which an even copy of the last may need.
    const std::size_t batches =
        1 + (std::size_t{suite.quick() ? 16U : 256U} << 20) / (samples * size_of(format));
    gpu::DeviceBuffer<std::byte> in(device, (batches + 1) * samples * size_of(format));
    gpu::DeviceBuffer<cf32> grid(device, (batches + 1) * slots * 4 * demodulate.timing().slot_elements());
    const std::vector<std::byte> some = noise(format, 100'003);
    apps::fill_repeating(device, in.span(), std::span<const std::byte>(some));
    Measurement measurement;
    measurement.symbols = samples;
    measurement.graph = true;
    const std::size_t elements = grid.size() / (batches + 1);
    for (std::size_t batch = 0; batch < batches; ++batch)
        measurement.moves.push_back(
            evened({in.data() + batch * samples * size_of(format), samples * size_of(format),
                    grid.data() + batch * elements, elements * sizeof(cf32)}));
    measurement.work = [&](cudaStream_t stream) {
        for (std::size_t batch = 0; batch < batches; ++batch)
            demodulate({format, in.subspan(batch * samples * size_of(format), samples * size_of(format))},
                       {.count = slots}, grid.subspan(batch * elements, elements), stream);
    };
    suite.record(name, measurement);
}

/// A carrier of 100 MHz to 122.88 Msps: as much as slots with four antennas.
void measure_resampler(Suite& suite, double rate, std::size_t slots) {
    const auto name = fmt::format("resampler/4x273/{:g}_Msps/{}_slots", 1e-6 * rate, slots);
    if (!suite.wants(name)) return;
    Link link;
    link.allocation.carrier_resource_blocks = 273;
    link.carrier.sample_rate = rate;
    ResamplerConfig config = resampler_config(link);
    config.output_rate = 122.88e6;
    const gpu::Device& device = suite.device();
    const gpu::Resampler resample(device, config);
    constexpr std::size_t outputs = 61'440;
    const auto inputs = static_cast<std::size_t>(outputs * rate / config.output_rate) + 2 * resample.margin();
    const std::size_t count = 4 * slots;
    const std::size_t bytes_in = count * inputs * size_of(SampleFormat::ci16);
    const std::size_t bytes_out = count * outputs * sizeof(cf32);
    // The even copy of either direction fits.
    const std::size_t of_batch = (std::max(bytes_in, bytes_out) + 255) / 256 * 256;
    const std::size_t batches = 1 + (std::size_t{suite.quick() ? 16U : 256U} << 20) / of_batch;
    gpu::DeviceBuffer<std::byte> in(device, batches * of_batch);
    gpu::DeviceBuffer<std::byte> out(device, batches * of_batch);
    gpu::DeviceBuffer<ResampledRow> rows(device, count);
    const std::vector<std::byte> some = noise(SampleFormat::ci16, 100'003);
    apps::fill_repeating(device, in.span(), std::span<const std::byte>(some));
    const std::vector<ResampledRow> row = {{.position = resample.margin() << 32U, .step = resample.step()}};
    apps::fill_repeating(device, rows.span(), std::span<const ResampledRow>(row));
    Measurement measurement;
    measurement.symbols = count * outputs;
    measurement.graph = true;
    for (std::size_t batch = 0; batch < batches; ++batch)
        measurement.moves.push_back(
            evened({in.data() + batch * of_batch, bytes_in, out.data() + batch * of_batch, bytes_out}));
    measurement.work = [&](cudaStream_t stream) {
        for (std::size_t batch = 0; batch < batches; ++batch)
            resample(
                {SampleFormat::ci16, in.subspan(batch * of_batch, bytes_in)}, rows,
                gpu::device_span(reinterpret_cast<cf32*>(out.data() + batch * of_batch), count * outputs),
                stream);
    };
    suite.record(name, measurement);
}

}  // namespace

void ofdm_benchmarks(Suite& suite) {
    for (const SampleFormat format : all_sample_formats)
        for (const std::size_t slots : {1U, 64U})
            measure(suite, format, slots, 0.0);
    measure(suite, SampleFormat::ci16, 64, 5000.0);
    for (const double rate : {100e6, 125e6, 184.32e6, 200e6, 245.76e6})
        measure_resampler(suite, rate, 64);
    measure_resampler(suite, 125e6, 1);
}

}  // namespace phy::bench
