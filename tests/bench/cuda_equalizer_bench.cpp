// Equaliser on a GPU, for slots of 273 resource blocks. "Symbols" are resource elements;
// the copy moves their samples, the coefficients and what is written.

#include <algorithm>
#include <complex>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "bench/cuda_suite.hpp"
#include "common/repeat.hpp"
#include "common/signal.hpp"

namespace phy::bench {
namespace {

struct Case {
    int layers;
    int antennas;
    SampleFormat format;
    bool shared;        ///< one weight set for all OFDM symbols, else one for each element
    std::size_t slots;  ///< 1: in a graph
};

EqualizerConfig config_of(const Case& of) {
    EqualizerConfig config;
    config.allocation.carrier_resource_blocks = 273;
    config.allocation.resource_blocks = {{0, 273}};
    config.allocation.dmrs.ports.clear();
    for (int port = 0; port < of.layers; ++port)
        config.allocation.dmrs.ports.push_back(port);
    config.antennas = of.antennas;
    for (int symbol = 0; !of.shared && symbol < phy::symbols_per_slot; ++symbol) {
        const float second = (static_cast<float>(symbol) + 0.5F) / 14.0F;
        config.time_weights.push_back(1.0F - second);
        config.time_weights.push_back(second);
    }
    return config;
}

/// What an equaliser works on: samples, then coefficients, in one array that is as long again, for copies
/// that read as much as they write.
class Input {
public:
    Input(const gpu::Device& device, const Case& of, const EqualizerConfig& config)
        : format_(of.format),
          grid_bytes_(of.slots * static_cast<std::size_t>(config.antennas) * phy::symbols_per_slot *
                      static_cast<std::size_t>(config.allocation.subcarriers()) * size_of(of.format)),
          channel_floats_(of.slots * static_cast<std::size_t>((of.shared ? 1 : 2) * 2 * of.layers *
                                                              of.antennas * config.allocation.subcarriers())),
          memory_(device, 2 * (grid_bytes_ + channel_floats_ * sizeof(float))),
          slots_(device, of.slots) {
        const apps::Signal signal(Modulation::qam256, of.format, 25.0, apps::signal_stretch);
        apps::fill_repeating(device, memory_.span(),
                             std::span<const std::byte>(std::as_bytes(std::span(signal.samples))));
        std::mt19937 random(1);
        std::normal_distribution<float> normal(0.0F, 0.7F);
        std::vector<float> channel(1 << 20);
        for (float& value : channel)
            value = normal(random);
        apps::fill_repeating(device, memory_.subspan(grid_bytes_, channel_floats_ * sizeof(float)),
                             std::as_bytes(std::span<const float>(channel)));
        std::vector<SlotEstimate> estimates(of.slots);
        for (SlotEstimate& estimate : estimates) {
            estimate.noise_variance = 0.003F;
            for (cf32& phase : estimate.phase)
                phase = std::polar(1.0F, normal(random));
        }
        const gpu::Stream stream(device);
        copy_async(slots_, estimates, stream);
        stream.synchronize();
    }

    [[nodiscard]] gpu::SymbolView grid() { return {format_, memory_.first(grid_bytes_)}; }
    [[nodiscard]] gpu::DeviceSpan<const float> channel() {
        return gpu::elements_of<float>(memory_.subspan(grid_bytes_, channel_floats_ * sizeof(float)));
    }
    [[nodiscard]] gpu::DeviceSpan<const SlotEstimate> slots() { return slots_; }
    [[nodiscard]] const void* data() const { return memory_.data(); }

    /// Those of elements with data, and the coefficients.
    [[nodiscard]] std::size_t bytes_read(std::size_t elements, int antennas) const {
        return elements * static_cast<std::size_t>(antennas) * size_of(format_) +
               channel_floats_ * sizeof(float);
    }

private:
    SampleFormat format_;
    std::size_t grid_bytes_;
    std::size_t channel_floats_;
    gpu::DeviceBuffer<std::byte> memory_;
    gpu::DeviceBuffer<SlotEstimate> slots_;
};

void measure_equalizer(Suite& suite, const Case& of) {
    const auto name =
        fmt::format("equalize/{}x{}/{}/{}/{}_slots", of.layers, of.antennas, to_string(of.format),
                    of.shared ? "shared_weights" : "linear_weights", of.slots);
    if (!suite.wants(name)) return;
    const gpu::Device& device = suite.device();
    const EqualizerConfig config = config_of(of);
    const gpu::Equalizer equalizer(device, config);
    Input input(device, of, config);
    const std::size_t elements = of.slots * equalizer.elements_per_slot();
    const std::size_t symbols = of.slots * equalizer.symbols_per_slot();
    const std::size_t bytes_out = 3 * symbols * sizeof(float);
    const std::size_t bytes_in = input.bytes_read(elements, of.antennas);
    gpu::DeviceBuffer<float> out(device,
                                 std::max(bytes_out, evened_bytes(bytes_in, bytes_out)) / sizeof(float));
    const auto noise = out.subspan(2 * symbols, symbols);
    const auto equalized = gpu::device_span(reinterpret_cast<cf32*>(out.data()), symbols);
    suite.record(name, {.symbols = elements,
                        .moves = {evened({input.data(), bytes_in, out.data(), bytes_out})},
                        .work =
                            [&](cudaStream_t stream) {
                                equalizer(input.grid(), input.channel(), input.slots(), equalized, noise,
                                          stream);
                            },
                        .graph = of.slots == 1});
}

}  // namespace

void equalizer_benchmarks(Suite& suite) {
    for (const std::size_t slots : {std::size_t{64}, std::size_t{1}}) {
        for (const bool shared : {true, false}) {
            for (const SampleFormat format : {SampleFormat::cf32, SampleFormat::ci16})
                measure_equalizer(suite, {4, 4, format, shared, slots});
            for (const int layers : {1, 2})
                measure_equalizer(suite, {layers, 4, SampleFormat::cf32, shared, slots});
        }
    }
}

}  // namespace phy::bench
