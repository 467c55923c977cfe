// Samples to resource elements on a GPU.

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

}  // namespace

void ofdm_benchmarks(Suite& suite) {
    for (const SampleFormat format : all_sample_formats)
        for (const std::size_t slots : {1U, 64U})
            measure(suite, format, slots, 0.0);
    measure(suite, SampleFormat::ci16, 64, 5000.0);
}

}  // namespace phy::bench
