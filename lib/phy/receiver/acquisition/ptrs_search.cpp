#include "phy/receiver/acquisition/ptrs_search.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <iterator>

namespace phy::detail {
namespace {

/// -ln of the probability of a sign by chance, for each subcarrier, time density and set of blocks.
constexpr double sureness = 24.0;

/// Of the power if all products agree: less is none of the link's PT-RS, but a weak one of another cell, say.
constexpr double least_share = 0.2;

/// Standard deviations of a mean power that chance never takes it away.
constexpr double sure_deviations = 6.0;

/// PT-RS are missing, or at other times, only if the share of the signal in DM-RS is so large that they would
/// have this share at least.
constexpr double min_coherence_of_missing = 0.8;
constexpr double clear_share = 0.4;

/// Of unit products of a slot's sums and those of an earlier one: the magnitude of their mean, of which
/// chance and PT-RS make less.
constexpr double repetition = 0.4;

constexpr int time_densities[] = {1, 2, 4};

std::vector<int> symbols_at(SlotAllocation allocation, int time_density) {
    allocation.ptrs = PtrsConfig{.time_density = time_density, .ports = {0}};
    return ptrs_symbols(allocation);
}

/// Of a resource block.
int subcarrier_of(SlotAllocation allocation, int port, int resource_element_offset) {
    allocation.ptrs = PtrsConfig{.resource_element_offset = resource_element_offset, .ports = {port}};
    return ptrs_ports(allocation).front().subcarriers.front() % subcarriers_per_resource_block;
}

std::complex<double> unit_or_zero(std::complex<double> product) {
    const double power = std::norm(product);
    if (!(power > 0.0 && std::isfinite(power))) return 0.0;
    const double scale = 1.0 / std::sqrt(power);
    return {scale * product.real(), scale * product.imag()};
}

/// Of patterns: is_so(subcarrier, offset).
bool any_element(const auto& patterns, const auto& is_so) {
    return std::ranges::any_of(patterns, [&](const auto& pattern) {
        for (std::size_t offset = 0; offset < pattern.has.size(); ++offset)
            if (pattern.has[offset] && is_so(pattern.subcarrier, offset)) return true;
        return false;
    });
}

}  // namespace

PtrsSearch::PtrsSearch(const SlotAllocation& allocation) : allocation_(allocation) {
    for (const ResourceBlocks& range : allocation.resource_blocks)
        for (int i = 0; i < range.count; ++i)
            blocks_.push_back(range.first + i);
    std::ranges::sort(blocks_);
}

void PtrsSearch::add(std::span<const cf32> grid, std::size_t antennas) {
    SlotSums slot = {};
    for (const int symbol : symbols_at(allocation_, 1))
        add_symbol(grid, antennas, static_cast<std::size_t>(symbol), slot[static_cast<std::size_t>(symbol)]);
    slots_ += 1.0;
    if (!is_repetition(slot)) different_.push_back(slot);
}

/// Whether the sums are those of an earlier slot: data and DM-RS are the same. PT-RS alone, which are in few
/// of the sums, make no repetition.
bool PtrsSearch::is_repetition(const SlotSums& slot) const {
    return std::ranges::any_of(different_, [&](const SlotSums& earlier) {
        std::complex<double> agreement;
        double number = 0.0;
        for (const int symbol : symbols_at(allocation_, 1)) {
            const auto l = static_cast<std::size_t>(symbol);
            for (std::size_t k = 0; k < subcarriers_per_resource_block; ++k)
                for (std::size_t offset = 0; offset < comb; ++offset)
                    agreement += unit_or_zero(slot[l][k][offset] * std::conj(earlier[l][k][offset]));
            number += static_cast<double>(subcarriers_per_resource_block * comb);
        }
        return std::abs(agreement) > repetition * number;
    });
}

void PtrsSearch::add_symbol(std::span<const cf32> grid, std::size_t antennas, std::size_t symbol,
                            Sums& of_symbol) {
    const auto width = static_cast<std::size_t>(allocation_.subcarriers());
    const auto dmrs = static_cast<std::size_t>(allocation_.dmrs.symbols.front());
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
        std::array<double, subcarriers_per_resource_block> re = {};
        std::array<double, subcarriers_per_resource_block> im = {};
        for (std::size_t antenna = 0; antenna < antennas; ++antenna) {
            const cf32* const of_block =
                grid.data() + antenna * symbols_per_slot * width +
                subcarriers_per_resource_block * static_cast<std::size_t>(blocks_[i]);
            for (std::size_t k = 0; k < re.size(); ++k) {
                const std::complex<double> a = of_block[symbol * width + k];
                const std::complex<double> b = of_block[dmrs * width + k];
                re[k] += a.real() * b.real() + a.imag() * b.imag();
                im[k] += a.imag() * b.real() - a.real() * b.imag();
            }
        }
        for (std::size_t k = 0; k < re.size(); ++k)
            of_symbol[k][i % comb] += unit_or_zero({re[k], im[k]});
    }
    for (std::size_t k = 0; k < of_symbol.size(); ++k)
        for (std::size_t offset = 0; offset < comb; ++offset)
            powers_[symbol][k][offset] += std::norm(of_symbol[k][offset]) / std::max(blocks_at(offset), 1.0);
}

double PtrsSearch::blocks_at(std::size_t offset) const {
    const std::size_t blocks = (blocks_.size() + comb - 1 - offset) / comb;
    return static_cast<double>(blocks);
}

/// Powers that chance makes anew: generators repeat what they send, and with it what chance made once.
double PtrsSearch::independent(const std::vector<int>& symbols) const {
    return static_cast<double>(symbols.size() * different_.size());
}

/// Powers by chance are exponentially distributed: a bound of their mean (B. Laurent and P. Massart,
/// "Adaptive estimation of a quadratic functional by model selection", 2000, lemma 1).
double PtrsSearch::sure_power(const std::vector<int>& symbols) const {
    const double x = sureness / independent(symbols);
    return 1.0 + std::sqrt(2.0 * x) + x;
}

double PtrsSearch::mean_power(const std::vector<int>& symbols, std::size_t subcarrier,
                              std::size_t offset) const {
    double sum = 0.0;
    for (const int symbol : symbols)
        sum += powers_[static_cast<std::size_t>(symbol)][subcarrier][offset];
    return sum / (static_cast<double>(symbols.size()) * slots_);
}

bool PtrsSearch::is_there(int time_density, std::size_t subcarrier, std::size_t offset) const {
    const std::vector<int> symbols = symbols_at(allocation_, time_density);
    return !symbols.empty() && mean_power(symbols, subcarrier, offset) >
                                   std::max(sure_power(symbols), least_share * blocks_at(offset));
}

/// Of the link.
std::vector<PtrsSearch::Pattern> PtrsSearch::expected() const {
    std::vector<Pattern> patterns;
    if (!allocation_.ptrs) return patterns;
    for (const PtrsPort& port : ptrs_ports(allocation_)) {
        Pattern& pattern = patterns.emplace_back();
        pattern.subcarrier = port.subcarriers.front() % subcarriers_per_resource_block;
        for (const int subcarrier : port.subcarriers) {
            const auto found = std::ranges::find(blocks_, subcarrier / subcarriers_per_resource_block);
            pattern.has[static_cast<std::size_t>(found - blocks_.begin()) % comb] = true;
        }
    }
    return patterns;
}

std::vector<PtrsSearch::Pattern> PtrsSearch::found() const {
    std::vector<Pattern> patterns;
    for (std::size_t k = 0; k < subcarriers_per_resource_block; ++k) {
        Pattern pattern = {.subcarrier = static_cast<int>(k)};
        for (std::size_t offset = 0; offset < comb; ++offset)
            pattern.has[offset] = std::ranges::any_of(
                time_densities, [&](int density) { return is_there(density, k, offset); });
        if (std::ranges::count(pattern.has, true) > 0) patterns.push_back(pattern);
    }
    return patterns;
}

/// Symbols that a denser pattern has and a sparser one has not show chance, 1, or the power of every fourth.
/// Of moving users only those count that are no farther from the first DM-RS.
std::optional<int> PtrsSearch::time_density_of(const Pattern& pattern) const {
    const auto k = static_cast<std::size_t>(pattern.subcarrier);
    const auto offset = static_cast<std::size_t>(std::ranges::find(pattern.has, true) - pattern.has.begin());
    const std::vector<int> sparsest = symbols_at(allocation_, 4);
    if (sparsest.empty()) return std::nullopt;
    const auto distance = [&](int symbol) { return std::abs(symbol - allocation_.dmrs.symbols.front()); };
    const int farthest = distance(std::ranges::max(sparsest, {}, distance));
    const double full = mean_power(sparsest, k, offset);
    for (const int density : {1, 2}) {
        std::vector<int> added;
        std::ranges::set_difference(symbols_at(allocation_, density), symbols_at(allocation_, 2 * density),
                                    std::back_inserter(added));
        std::erase_if(added, [&](int symbol) { return distance(symbol) > farthest; });
        const double deviation = 1.0 / std::sqrt(independent(added));
        if (added.empty() || 0.5 * (full - 1.0) < sure_deviations * deviation) return std::nullopt;
        if (mean_power(added, k, offset) > 0.5 * (full + 1.0)) return density;
    }
    return 4;
}

/// Whether PT-RS of the link are not there that would be found.
bool PtrsSearch::lacks(const std::vector<Pattern>& of_link) const {
    const int density = allocation_.ptrs->time_density;
    const std::vector<int> symbols = symbols_at(allocation_, density);
    return !symbols.empty() && any_element(of_link, [&](int subcarrier, std::size_t offset) {
        return clear_share * blocks_at(offset) > sure_power(symbols) &&
               !is_there(density, static_cast<std::size_t>(subcarrier), offset);
    });
}

FoundPtrs PtrsSearch::description_of(const std::vector<Pattern>& patterns) const {
    const Pattern& first = patterns.front();
    const auto offset = static_cast<std::size_t>(std::ranges::find(first.has, true) - first.has.begin());
    FoundPtrs its;
    its.subcarrier = first.subcarrier;
    its.time_density = time_density_of(first);
    const std::vector<int> symbols = symbols_at(allocation_, its.time_density.value_or(1));
    const auto power = [&](std::size_t of) {
        return mean_power(symbols, static_cast<std::size_t>(first.subcarrier), of);
    };
    const std::size_t other = (offset + 2) % comb;
    const bool is_dense = power(other) > 0.5 * (power(offset) + 1.0);
    its.frequency_density = is_dense ? 2 : 4;
    its.first_block = blocks_[is_dense ? std::min(offset, other) : offset];
    std::vector<int> ports = allocation_.dmrs.ports;
    std::ranges::sort(ports);
    std::erase_if(ports, [&](int port) { return port > (allocation_.dmrs.type == 1 ? 3 : 5); });
    for (const int port : ports)
        for (int element = 3; element >= 0; --element)
            if (!its.port && subcarrier_of(allocation_, port, element) == first.subcarrier) {
                its.port = port;
                its.resource_element_offset = element;
            }
    return its;
}

PtrsSigns PtrsSearch::signs(double pilot_coherence) const {
    PtrsSigns signs;
    if (slots_ == 0.0) return signs;
    const std::vector<Pattern> of_link = expected();
    const std::vector<Pattern> of_signal = found();
    const bool is_clear = pilot_coherence > min_coherence_of_missing && allocation_.reserved.empty();
    const bool are_missing = is_clear && !of_link.empty() && lacks(of_link);
    if (of_signal.empty()) {
        signs.are_missing = are_missing;
        return signs;
    }
    const bool are_elsewhere = any_element(of_signal, [&](int subcarrier, std::size_t offset) {
        const auto same = std::ranges::find(of_link, subcarrier, &Pattern::subcarrier);
        return same == of_link.end() || !same->has[offset];
    });
    const std::optional<int> density = time_density_of(of_signal.front());
    const bool are_at_other_times =
        is_clear && !of_link.empty() && density && *density != allocation_.ptrs->time_density;
    if (are_elsewhere || are_missing || are_at_other_times) signs.found = description_of(of_signal);
    return signs;
}

}  // namespace phy::detail
