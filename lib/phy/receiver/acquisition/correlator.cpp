#include "phy/receiver/acquisition/correlator.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
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

/// Energies of all antennas, accumulated from the first sample on.
std::vector<double> summed_energies(const AntennaSamples& samples, std::int64_t first, std::size_t count) {
    std::vector<double> sums(count + 1, 0.0);
    std::vector<float> re(count);
    std::vector<float> im(count);
    for (std::size_t antenna = 0; antenna < samples.antennas; ++antenna) {
        samples.read(antenna, first, count, re.data(), im.data());
        for (std::size_t i = 0; i < count; ++i) {
            const double x = re[i];
            const double y = im[i];
            sums[i + 1] += x * x + y * y;
        }
    }
    for (std::size_t i = 0; i < count; ++i)
        sums[i + 1] += sums[i];
    return sums;
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

DmrsCorrelator::DmrsCorrelator(std::vector<DmrsReference> references)
    : references_(std::move(references)),
      size_(references_.front().kinds.front().size()),
      transform_(std::max<std::size_t>(2 * std::bit_ceil(size_), 4096)) {
    const std::size_t points = transform_.points();
    block_ = {std::vector<float>(points), std::vector<float>(points)};
    product_ = block_;
    for (const DmrsReference& reference : references_) {
        std::vector<Spectrum>& kinds = spectra_.emplace_back();
        for (const std::vector<cf32>& samples : reference.kinds) {
            Spectrum spectrum = {std::vector<float>(points), std::vector<float>(points)};
            for (std::size_t i = 0; i < size_; ++i) {
                spectrum.re[i] = samples[i].real();
                spectrum.im[i] = samples[i].imag();
            }
            transform_(spectrum.re.data(), spectrum.im.data());
            for (std::size_t k = 0; k < points; ++k) {
                // The inverse transform has the factor 1 / points.
                spectrum.re[k] /= static_cast<float>(points);
                spectrum.im[k] /= -static_cast<float>(points);
            }
            kinds.push_back(std::move(spectrum));
        }
    }
}

void DmrsCorrelator::load(const AntennaSamples& samples, std::size_t antenna, std::int64_t first) {
    samples.read(antenna, first, transform_.points(), block_.re.data(), block_.im.data());
    transform_(block_.re.data(), block_.im.data());
}

void DmrsCorrelator::add_powers(const Spectrum& reference, std::span<float> powers) {
    for (std::size_t k = 0; k < transform_.points(); ++k) {
        product_.re[k] = block_.re[k] * reference.re[k] - block_.im[k] * reference.im[k];
        product_.im[k] = block_.re[k] * reference.im[k] + block_.im[k] * reference.re[k];
    }
    transform_(product_.im.data(), product_.re.data());
    for (std::size_t i = 0; i < powers.size(); ++i)
        powers[i] += product_.re[i] * product_.re[i] + product_.im[i] * product_.im[i];
}

std::vector<float> DmrsCorrelator::operator()(const AntennaSamples& samples, std::int64_t first,
                                              std::size_t count) {
    // The range of the windows of all symbols together; powers are per symbol.
    const std::int64_t begin = first + static_cast<std::int64_t>(references_.front().begin);
    const std::size_t windows = count + references_.back().begin - references_.front().begin;
    std::vector<std::vector<float>> powers(references_.size(), std::vector<float>(windows, 0.0F));
    const std::size_t step = transform_.points() - size_ + 1;
    for (std::size_t window = 0; window < windows; window += step) {
        const std::size_t here = std::min(step, windows - window);
        for (std::size_t antenna = 0; antenna < samples.antennas; ++antenna) {
            load(samples, antenna, begin + static_cast<std::int64_t>(window));
            for (std::size_t symbol = 0; symbol < spectra_.size(); ++symbol)
                for (const Spectrum& reference : spectra_[symbol])
                    add_powers(reference, std::span(powers[symbol]).subspan(window, here));
        }
    }

    const std::vector<double> energies = summed_energies(samples, begin, windows + size_ - 1);
    const double least = 1e-9 * energies.back() / static_cast<double>(energies.size());
    std::vector<float> shares(count, 0.0F);
    for (std::size_t position = 0; position < count; ++position) {
        double power = 0.0;
        double energy = 0.0;
        for (std::size_t symbol = 0; symbol < references_.size(); ++symbol) {
            const std::size_t window = position + references_[symbol].begin - references_.front().begin;
            power += powers[symbol][window];
            energy += energies[window + size_] - energies[window];
        }
        if (energy > least * static_cast<double>(size_))
            shares[position] = static_cast<float>(power / energy);
    }
    return shares;
}

}  // namespace phy::detail
