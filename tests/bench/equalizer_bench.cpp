// Equalisation of a slot of 273 resource blocks. Gsym/s are resource elements, whatever the layers.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <complex>
#include <random>
#include <vector>

#include <fmt/format.h>

#include "bench/paired.hpp"
#include "phy/phy.hpp"

namespace phy::bench {
namespace {

struct Shape {
    int layers;
    int antennas;
};

enum class Weights {
    shared,      ///< one estimate for all OFDM symbols
    by_element,  ///< an estimate for each
    linear,      ///< each has its own point on the line through two estimates
    in_cache,    ///< an estimate for one OFDM symbol, the only one with data: all stays in a cache of 1 MB
};

EqualizerConfig config_of(Shape shape, Equalization method, Weights weights) {
    EqualizerConfig config;
    config.allocation.carrier_resource_blocks = 273;
    config.allocation.resource_blocks = {{0, 273}};
    config.allocation.dmrs.ports.clear();
    for (int port = 0; port < shape.layers; ++port)
        config.allocation.dmrs.ports.push_back(port);
    config.antennas = shape.antennas;
    config.method = method;
    if (weights == Weights::in_cache) {
        config.allocation.dmrs.symbols = {2};
        config.allocation.first_symbol = 2;
        config.allocation.symbols = 2;
    }
    const int estimates = weights == Weights::linear ? 2 : weights == Weights::by_element ? 14 : 0;
    for (int symbol = 0; symbol < phy::symbols_per_slot; ++symbol) {
        const float second = (static_cast<float>(symbol) + 0.5F) / 14.0F;
        for (int e = 0; e < estimates; ++e) {
            const float on_line = e == 0 ? 1.0F - second : second;
            config.time_weights.push_back(weights == Weights::linear ? on_line : symbol == e ? 1.0F : 0.0F);
        }
    }
    return config;
}

void equalize(benchmark::State& state, const EqualizerConfig& config) {
    Equalizer equalizer(Host(), config);
    const auto coefficients =
        static_cast<std::size_t>(equalizer.estimates() * config.antennas * config.allocation.layers() * 2);
    const auto subcarriers = static_cast<std::size_t>(config.allocation.subcarriers());
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0.0F, 0.7F);
    std::vector<float> channel(coefficients * subcarriers);
    for (float& value : channel)
        value = normal(random);
    std::vector<cf32> grid(static_cast<std::size_t>(config.antennas) * phy::symbols_per_slot * subcarriers);
    for (cf32& sample : grid)
        sample = {normal(random), normal(random)};
    std::vector<SlotEstimate> slots(1);
    slots[0].noise_variance = 0.01F;
    for (cf32& phase : slots[0].phase)
        phase = std::polar(1.0F, normal(random));
    std::vector<cf32> symbols(equalizer.symbols_per_slot());
    std::vector<float> noise(symbols.size());
    const Traffic traffic = {
        equalizer.elements_per_slot(),
        equalizer.elements_per_slot() * static_cast<std::size_t>(config.antennas) * sizeof(cf32) +
            channel.size() * sizeof(float),
        symbols.size() * (sizeof(cf32) + sizeof(float))};
    run_paired(state, traffic, [&] { equalizer(grid, channel, slots, symbols, noise); });
}

void add(Shape shape, Equalization method, Weights weights) {
    constexpr const char* names[] = {"shared_weights", "weights_by_element", "linear_weights",
                                     "weights_by_element/in_cache"};
    const EqualizerConfig config = config_of(shape, method, weights);
    const auto name =
        fmt::format("equalize/{}x{}/{}/{}", shape.layers, shape.antennas,
                    method == Equalization::mmse ? "mmse" : "zero_forcing", names[static_cast<int>(weights)]);
    benchmark::RegisterBenchmark(name.c_str(), [=](benchmark::State& state) { equalize(state, config); })
        ->UseManualTime()
        ->Iterations(101);
}

const bool registered = [] {
    for (const Weights weights : {Weights::in_cache, Weights::by_element, Weights::linear, Weights::shared}) {
        for (const Shape shape : {Shape{1, 1}, {1, 2}, {1, 4}, {2, 2}, {2, 4}, {3, 4}, {4, 4}, {4, 8}})
            add(shape, Equalization::mmse, weights);
        for (const Shape shape : {Shape{2, 4}, {4, 4}, {4, 8}})
            add(shape, Equalization::zero_forcing, weights);
    }
    return true;
}();

}  // namespace
}  // namespace phy::bench
