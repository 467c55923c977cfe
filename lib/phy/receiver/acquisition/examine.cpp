#include "phy/receiver/acquisition/examine.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <span>

#include "phy/dmrs/dmrs.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/pilot_pairs.hpp"
#include "phy/receiver/acquisition/samples.hpp"

namespace phy::detail {
namespace {

/// Of an exponentially distributed power over its mean, which a chance of 2e-9 stays below.
constexpr double sure_power = 20.0;

/// How much a fading band lowers the number of independent samples.
constexpr double share_in_fading = 0.5;

/// Min power of a line over that of a subcarrier. Below, it is as harmless as noise.
constexpr double min_line = 0.25;

/// Max coherence of a DM-RS symbol without DM-RS, and min coherence of a data symbol with DM-RS, as a share
/// of that of the others.
constexpr double max_missing_share = 0.3;
constexpr double min_unexpected_share = 0.6;

/// Min error over noise of symbols that are not the link's, and over that of symbols in the middle: a jump of
/// the pilots at the end of the signal raises N0.
constexpr double min_foreign_error = 3.0;
constexpr double min_foreign_share = 4.0;

/// Fewer neighbouring resource blocks at an end leave the channel there uncertain.
constexpr std::size_t min_neighbours = 6;

SlotAllocation with_pilots_everywhere(SlotAllocation allocation) {
    allocation.first_symbol = 0;
    allocation.symbols = symbols_per_slot;
    allocation.dmrs.length = 1;
    allocation.dmrs.ports = {0};
    allocation.dmrs.symbols.clear();
    allocation.ptrs.reset();
    for (int symbol = 0; symbol < symbols_per_slot; ++symbol)
        allocation.dmrs.symbols.push_back(symbol);
    return allocation;
}

/// The symbols whose DM-RS sequences the symbols of a slot have: both of double-symbol DM-RS of low PAPR have
/// that of the first (TS 38.211 clause 6.4.1.1.1.2).
std::array<std::size_t, symbols_per_slot> symbols_of_sequences(const DmrsConfig& dmrs) {
    std::array<std::size_t, symbols_per_slot> symbols{};
    std::iota(symbols.begin(), symbols.end(), std::size_t{0});
    if (!dmrs.transform_precoding || dmrs.length == 1) return symbols;
    for (std::size_t i = 1; i < dmrs.symbols.size(); i += 2)
        symbols[static_cast<std::size_t>(dmrs.symbols[i])] = static_cast<std::size_t>(dmrs.symbols[i - 1]);
    return symbols;
}

/// Adds a component to the counts of extreme values.
void count_extremes(float value, float& largest, float& smallest, std::uint64_t& at_largest,
                    std::uint64_t& at_smallest) {
    if (value >= largest) {
        at_largest = value > largest ? 1 : at_largest + 1;
        largest = value;
    }
    if (value <= smallest) {
        at_smallest = value < smallest ? 1 : at_smallest + 1;
        smallest = value;
    }
}

/// Number of components below a quarter of their largest magnitude, without their mean.
std::uint32_t near_zero(std::span<const float> components) {
    constexpr std::size_t lanes = 16;  // of sums that do not wait for each other
    std::array<double, lanes> sums = {};
    std::array<float, lanes> smallest = {};
    std::array<float, lanes> largest = {};
    if (!components.empty()) {
        smallest.fill(components.front());
        largest.fill(components.front());
    }
    const auto add = [&](float component, std::size_t lane) {
        sums[lane] += static_cast<double>(component);
        smallest[lane] = component < smallest[lane] ? component : smallest[lane];
        largest[lane] = component > largest[lane] ? component : largest[lane];
    };
    std::size_t first = 0;
    for (; first + lanes <= components.size(); first += lanes)
        for (std::size_t lane = 0; lane < lanes; ++lane)
            add(components[first + lane], lane);
    for (; first < components.size(); ++first)
        add(components[first], 0);
    const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
    const auto mean = static_cast<float>(sum / static_cast<double>(components.size()));
    const float max_magnitude = std::max(std::ranges::max(largest) - mean, mean - std::ranges::min(smallest));
    std::uint32_t count = 0;
    for (const float component : components)
        count += static_cast<std::uint32_t>(!(std::fabs(component - mean) > 0.25F * max_magnitude));
    return count;
}

}  // namespace

Examination::Examination(const Host& host, const ReceiverConfig& config)
    : plan_(config),
      everywhere_(with_pilots_everywhere(config.link.allocation)),
      symbol_of_sequence_(symbols_of_sequences(config.link.allocation.dmrs)),
      meter_(host, {.modulation = config.link.modulation}),
      map_(config.link.allocation),
      grid_(plan_.grid),
      pilots_(dmrs_pilot_count(everywhere_)),
      antennas_(plan_.antennas) {
    if (plan_.demodulator) demodulate_.emplace(host, *plan_.demodulator);
    if (plan_.deprecoder)
        precoded_ptrs_.emplace(host, config);
    else
        ptrs_.emplace(config.link.allocation);
    // With transform precoding symbols are in no resource block; points of pi/2-BPSK depend on the symbol
    // before.
    if (plan_.deprecoder || config.link.modulation == Modulation::pi2_bpsk) return;
    // A covariance would have the errors that are looked for.
    ReceiverConfig with_n0 = config;
    with_n0.interference_rejection = false;
    receive_.emplace(host, with_n0);
    symbols_.resize(plan_.symbols);
    noise_variance_.resize(plan_.symbols);
    std::vector<int> blocks;
    for (const ResourceBlocks& range : config.link.allocation.resource_blocks)
        for (int i = 0; i < range.count; ++i)
            blocks.push_back(range.first + i);
    std::ranges::sort(blocks);
    const auto are_neighbours = [&](std::size_t first) {
        const std::size_t last = first + min_neighbours - 1;
        return last < blocks.size() && blocks[last] - blocks[first] == static_cast<int>(last - first);
    };
    const std::size_t first_of_end = blocks.size() - std::min(blocks.size(), min_neighbours);
    blocks_ = {{{.block = blocks.front(), .is_uncertain = !are_neighbours(0)},
                {.block = blocks[blocks.size() / 2]},
                {.block = blocks.back(), .is_uncertain = !are_neighbours(first_of_end)}}};
}

void Examination::load(SymbolView input) {
    re_.resize(input.size());
    im_.resize(input.size());
    read_samples(input, re_.data(), im_.data());
}

void Examination::add(SymbolView input, std::uint64_t occasion) {
    load(input);
    if (demodulate_)
        add_samples(plan_.input, demodulate_->timing().slot_samples(plan_.schedule.slot(occasion)),
                    plan_.demodulator->ofdm.sample_rate);
    add_signal(input, occasion);
}

void Examination::add(SymbolView input, std::uint64_t occasion, SymbolView recorded, double sample_rate) {
    load(recorded);
    const std::size_t length = recorded.size() / plan_.antennas;
    add_samples(length, length, sample_rate);
    load(input);
    add_signal(input, occasion);
}

void Examination::add_signal(SymbolView input, std::uint64_t occasion) {
    add_pilots(input, occasion);
    if (receive_) add_symbols(input, occasion);
    if (precoded_ptrs_) precoded_ptrs_->add(input, occasion);
}

/// In blocks that are as long as an OFDM symbol.
void Examination::add_samples(std::size_t stride, std::size_t length, double sample_rate) {
    sample_rate_ = sample_rate;
    const auto block =
        static_cast<std::size_t>(std::llround(sample_rate / plan_.demodulator->ofdm.subcarrier_spacing));
    for (std::size_t antenna = 0; antenna < plan_.antennas; ++antenna) {
        const std::size_t begin = antenna * stride;
        for (std::size_t first = 0; first + block <= length; first += block)
            add_block(antennas_[antenna], begin + first, begin + first + block);
        for (const std::vector<float>* const plane : {&re_, &im_})
            antennas_[antenna].near_zero +=
                near_zero(std::span(*plane).subspan(begin, length / block * block));
    }
}

void Examination::add_block(AntennaSums& to, std::size_t first, std::size_t end) const {
    double re = 0.0;
    double im = 0.0;
    double square_re = 0.0;
    double square_im = 0.0;
    double power = 0.0;
    for (std::size_t i = first; i < end; ++i) {
        count_extremes(re_[i], to.largest, to.smallest, to.at_largest, to.at_smallest);
        count_extremes(im_[i], to.largest, to.smallest, to.at_largest, to.at_smallest);
        const double x = static_cast<double>(re_[i]);
        const double y = static_cast<double>(im_[i]);
        re += x;
        im += y;
        square_re += x * x - y * y;
        square_im += 2.0 * x * y;
        power += x * x + y * y;
    }
    const std::complex<double> mean(re / static_cast<double>(end - first),
                                    im / static_cast<double>(end - first));
    to.samples += end - first;
    to.squares += std::complex<double>(square_re, square_im);
    to.power += power;
    to.squared_powers += power * power;
    to.means += mean;
    to.squared_means += mean * mean;
    to.mean_powers += std::norm(mean);
    ++to.blocks;
}

void Examination::add_pilots(SymbolView input, std::uint64_t occasion) {
    if (demodulate_) {
        (*demodulate_)(input, {.first = plan_.schedule.slot(occasion), .stride = plan_.input}, grid_);
    } else {
        for (std::size_t i = 0; i < grid_.size(); ++i)
            grid_[i] = {re_[i], im_[i]};
    }
    dmrs_pilots(everywhere_, plan_.schedule.slot_in_frame(occasion), pilots_);
    const std::size_t of_symbol = pilots_.size() / symbols_per_slot;
    const PilotPairs pairs(plan_.config.link.allocation, grid_, plan_.antennas);
    std::array<double, symbols_per_slot> coherence = {};
    for (std::size_t l = 0; l < symbols_per_slot; ++l) {
        const double energy = pairs.energy(0, l);
        const std::complex<double> correlation = pairs.correlation(
            0, l, std::span(pilots_).subspan(symbol_of_sequence_[l] * of_symbol, of_symbol));
        if (energy > 0.0) coherence[l] = std::sqrt(std::norm(correlation)) / energy;
        correlation_[l] += correlation;
        energy_[l] += energy;
        squared_energy_[l] += energy * energy;
    }
    const SlotAllocation& allocation = plan_.config.link.allocation;
    const auto first = static_cast<std::size_t>(allocation.dmrs.symbols.front());
    if (ptrs_ && coherence[first] >= min_coherence(allocation)) ptrs_->add(grid_, plan_.antennas);
}

void Examination::add_symbols(SymbolView input, std::uint64_t occasion) {
    const SlotAllocation& allocation = plan_.config.link.allocation;
    ReceivedSlot slot;
    (*receive_)(input, occasion,
                {.slots = std::span(&slot, 1), .symbols = symbols_, .noise_variance = noise_variance_});
    if (!(static_cast<double>(slot.estimate.coherence) >= min_coherence(allocation))) return;
    for (BlockSums& of : blocks_) {
        for (std::size_t l = 0; l < symbols_per_slot; ++l) {
            const ResourceMap::Entry entry =
                map_.entries()[l * static_cast<std::size_t>(allocation.carrier_resource_blocks) +
                               static_cast<std::size_t>(of.block)];
            const std::size_t count = plan_.layers * static_cast<std::size_t>(std::popcount(entry.mask));
            if (count == 0) continue;
            const std::size_t first = plan_.layers * entry.first;
            SymbolSums sums;
            meter_(std::span(symbols_).subspan(first, count),
                   std::span(noise_variance_).subspan(first, count), count, std::span(&sums, 1));
            of.sums = join(of.sums, sums);
        }
    }
}

double Examination::line_of(const AntennaSums& sums) const {
    const Link& link = plan_.config.link;
    const OfdmTiming& timing = demodulate_->timing();
    const auto is_near = [&](const ResourceBlocks& range) {
        const double zero =
            static_cast<double>(timing.zero_subcarrier()) +
            plan_.demodulator->ofdm.frequency_shift / plan_.demodulator->ofdm.subcarrier_spacing;
        const double first = subcarriers_per_resource_block * range.first;
        return zero > first - 1.0 && zero < first + subcarriers_per_resource_block * range.count;
    };
    if (std::ranges::none_of(link.allocation.resource_blocks, is_near)) return 0.0;
    const auto blocks = static_cast<double>(sums.blocks);
    const double line = std::norm(sums.means / blocks);
    const double beside = sums.mean_powers / blocks - line;
    const double least = std::max(min_line, sure_power / blocks);
    return line > least * beside ? line / beside : 0.0;
}

/// A signal of I and Q with equal power and without correlation has a mean x^2 of 0, its image adds to it. So
/// does a line near frequency 0, which is the means of the blocks.
double Examination::image_of(const AntennaSums& sums) const {
    // Symbols on one axis are not such a signal.
    if (bits_per_symbol(plan_.config.link.modulation) == 1) return 0.0;
    const auto samples = static_cast<double>(sums.samples);
    const auto blocks = static_cast<double>(sums.blocks);
    const double power = sums.power / samples - sums.mean_powers / blocks;
    const double squares = std::norm(sums.squares / samples - sums.squared_means / blocks) / (power * power);
    double subcarriers = 0.0;
    for (const ResourceBlocks& range : plan_.config.link.allocation.resource_blocks)
        subcarriers += subcarriers_per_resource_block * range.count;
    const double occupied = subcarriers * plan_.demodulator->ofdm.subcarrier_spacing / sample_rate_;
    const double equal_blocks = sums.power * sums.power / sums.squared_powers;
    const double independent = share_in_fading * occupied * samples * equal_blocks / blocks;
    return squares > sure_power * 2.0 / independent ? 0.25 * squares : 0.0;
}

SampleSigns Examination::samples() const {
    SampleSigns worst;
    if (!demodulate_) return worst;
    for (const AntennaSums& sums : antennas_) {
        if (!(sums.power > 0.0)) continue;
        const std::uint64_t at_limit = sums.at_largest + sums.at_smallest;
        worst.components = 2 * sums.samples;
        worst.at_limit = std::max(worst.at_limit, at_limit);
        worst.near_zero = std::min(
            worst.near_zero, static_cast<double>(sums.near_zero) / static_cast<double>(worst.components));
        worst.line = std::max(worst.line, line_of(sums));
        worst.image = std::max(worst.image, image_of(sums));
    }
    return worst;
}

double Examination::coherence(std::size_t symbol) const {
    return energy_[symbol] > 0.0 ? std::sqrt(std::norm(correlation_[symbol])) / energy_[symbol] : 0.0;
}

/// The largest one of the DM-RS symbols of the link.
double Examination::best_coherence() const {
    double best = 0.0;
    for (const int l : plan_.config.link.allocation.dmrs.symbols)
        best = std::max(best, coherence(static_cast<std::size_t>(l)));
    return best;
}

PilotSigns Examination::pilots() const {
    const SlotAllocation& allocation = plan_.config.link.allocation;
    const std::vector<int>& expected = allocation.dmrs.symbols;
    const auto pairs = static_cast<double>(pairs_of_symbol(allocation));
    // Antennas may receive the same, so they do not count as independent.
    const auto by_chance = [&](std::size_t l) {
        const double slots = squared_energy_[l] > 0.0 ? energy_[l] * energy_[l] / squared_energy_[l] : 0.0;
        return std::sqrt(sure_power / std::max(pairs * slots, 1.0));
    };
    const double best = best_coherence();
    PilotSigns signs;
    signs.ptrs = ptrs_ ? ptrs_->signs(best) : precoded_ptrs_->signs();
    for (int l = allocation.first_symbol; l < allocation.first_symbol + allocation.symbols; ++l) {
        const auto symbol = static_cast<std::size_t>(l);
        const double found = coherence(symbol);
        const bool is_expected = std::ranges::find(expected, l) != expected.end();
        if (is_expected && found < max_missing_share * best && by_chance(symbol) < 0.5 * best)
            signs.missing.push_back(l);
        if (!is_expected && found > std::max(min_unexpected_share * best, by_chance(symbol)))
            signs.unexpected.push_back(l);
    }
    return signs;
}

SymbolSigns Examination::symbols() const {
    const auto& [lowest, middle, highest] = blocks_;
    const double least =
        std::max(min_foreign_error, min_foreign_share * error_over_noise(middle.sums).value_or(0.0));
    SymbolSigns signs;
    for (const BlockSums* const end : {&lowest, &highest})
        if (!end->is_uncertain && end->sums.clear >= static_cast<double>(min_clear_symbols) &&
            end->sums.error > harmless_error * harmless_error * static_cast<double>(end->sums.symbols) &&
            error_over_noise(end->sums).value_or(0.0) > least)
            signs.foreign.push_back(end->block);
    return signs;
}

}  // namespace phy::detail
