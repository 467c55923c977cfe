#include "phy/receiver/acquisition/reference.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "phy/dmrs/grid_mapper.hpp"
#include "phy/ofdm/modulator.hpp"

namespace phy::detail {
namespace {

constexpr std::size_t max_symbols = 4;

/// Layers with different pilots, where signs in time do not count as a difference.
std::vector<std::size_t> distinct_layers(const DmrsConfig& dmrs) {
    std::vector<std::pair<int, int>> kinds;
    std::vector<std::size_t> layers;
    for (std::size_t layer = 0; layer < dmrs.ports.size(); ++layer) {
        const DmrsPort port = dmrs_port(dmrs.type, dmrs.ports[layer]);
        const std::pair<int, int> kind = {port.cdm_group, port.in_frequency[1]};
        if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) continue;
        kinds.push_back(kind);
        layers.push_back(layer);
    }
    return layers;
}

std::vector<cf32> with_unit_energy(const cf32* samples, std::size_t count) {
    double energy = 0.0;
    for (std::size_t i = 0; i < count; ++i)
        energy += std::norm(std::complex<double>(samples[i]));
    const auto factor = static_cast<float>(1.0 / std::sqrt(energy));
    std::vector<cf32> result(samples, samples + count);
    for (cf32& sample : result)
        sample *= factor;
    return result;
}

}  // namespace

std::vector<DmrsReference> make_references(const Host& host, const Link& link, const OfdmConfig& ofdm,
                                           int slot) {
    const GridMapper mapper(link.allocation);
    std::vector<cf32> pilots(mapper.pilots_per_slot());
    dmrs_pilots(link.allocation, slot, pilots);
    std::vector<cf32> grid(mapper.grid_size());
    mapper(std::vector<cf32>(mapper.symbols_per_slot()), pilots, grid);

    OfdmConfig config = ofdm;
    config.antennas = link.allocation.layers();
    OfdmModulator modulate(host, config);
    const OfdmTiming& timing = modulate.timing();
    const auto number = static_cast<std::uint64_t>(slot);
    const std::size_t length = timing.slot_samples(number);
    std::vector<cf32> samples(length * static_cast<std::size_t>(config.antennas));
    modulate(grid, {.first = number}, samples);

    const DmrsConfig& dmrs = link.allocation.dmrs;
    const std::vector<std::size_t> layers = distinct_layers(dmrs);
    std::vector<DmrsReference> references(std::min(dmrs.symbols.size(), max_symbols));
    for (std::size_t i = 0; i < references.size(); ++i) {
        const auto symbol = static_cast<std::size_t>(dmrs.symbols[i]);
        references[i].begin = timing.symbol_start(number, symbol) + timing.prefix_samples(number, symbol);
        for (const std::size_t layer : layers)
            references[i].kinds.push_back(
                with_unit_energy(samples.data() + layer * length + references[i].begin, timing.fft_size()));
    }
    return references;
}

}  // namespace phy::detail
