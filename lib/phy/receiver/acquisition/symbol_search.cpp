#include "phy/receiver/acquisition/symbol_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <utility>

#include "phy/core/error.hpp"
#include "phy/dmrs/dmrs.hpp"
#include "phy/measure/symbol_fit.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/active_ports.hpp"
#include "phy/receiver/acquisition/setting_search.hpp"

namespace phy::detail {
namespace {

constexpr std::size_t max_slots = 4;
constexpr std::size_t enough_symbols = 4096;
/// Symbols for a comparison, and for the choice of a modulation.
constexpr std::size_t compared_symbols = 600;
constexpr std::size_t decisive_symbols = 4096;

/// A modulation is better than another from this mean difference on.
constexpr double min_bits = 0.01;

/// EPRE of DM-RS over that of data, dB: TS 38.214 tables 4.1-1 and 6.2.2-1.
constexpr std::array<double, 3> usual_powers = {0.0, 3.0, 4.77};
/// Powers within this are the same, dB.
constexpr double same_power = 0.6;

/// Usual rasters of carriers, Hz: TS 38.104 clause 5.4.2.
constexpr std::array<double, 4> rasters = {5e3, 15e3, 60e3, 100e3};

/// f0 rotates symbols by their number, so it shows modulo the rate of symbols. The scan divides that; DM-RS
/// at several times correct half a step.
constexpr int coarse_steps = 16;
constexpr int coarse_steps_with_one_dmrs = 32;
constexpr int fine_steps = 8;
/// At 15 kHz symbol 7 has a longer prefix, so that f0 also rotates the halves of a slot against each other.
/// Symbol rates from one such rotation to the next, an eighth of a turn, and in a turn.
constexpr int rates_of_step = 17;
constexpr int steps_of_halves = 8;
/// Hz: multiples of it rotate no symbol at 15 kHz.
constexpr double no_rotation = 1.92e6;

struct Symbols {
    std::vector<cf32> symbols = {};
    std::vector<float> noise = {};
    std::size_t of_slot = 0;
};

struct Fit {
    double evidence = 0.0;  ///< bits per symbol
    double of_slot = 0.0;   ///< bits
    double margin = 0.0;    ///< bits per symbol that are clear
    SymbolFit best = {};
    Modulation modulation = Modulation::qpsk;
};

/// Odd and no multiple of 3, so that all layers take part.
std::size_t step_for(std::size_t symbols, std::size_t wanted) {
    std::size_t step = std::max<std::size_t>(symbols / wanted, 1) | 1U;
    while (step % 3 == 0)
        step += 2;
    return step;
}

class Search {
public:
    Search(const Host& host, const SlotGrids& slots, std::span<const double> center_frequencies,
           const std::function<bool()>& goes_on)
        : host_(host),
          slots_(slots),
          center_frequencies_(center_frequencies),
          goes_on_(goes_on),
          schedule_(slots.config.link) {
        result_.link = slots.config.link;
    }

    SymbolSearch operator()();

private:
    void choose_slots();
    Receiver& receiver_of(const SlotAllocation& allocation);
    Symbols receive(const Link& link);
    [[nodiscard]] std::vector<cf32> rotated_grid(double hertz) const;
    Fit fit(const Link& link);
    [[nodiscard]] std::size_t symbols_of(const Link& link) const {
        return ResourceMap(link.allocation).elements() * static_cast<std::size_t>(link.allocation.layers());
    }
    bool improve(const Link& link, double min_gain);
    void decide_ports();
    std::optional<bool> decide_groups_without_data();
    [[nodiscard]] std::optional<double> measured_power(const Link& link);
    bool decide_power(const Link& own);
    void decide_center_frequency();
    [[nodiscard]] std::vector<double> usual_center_frequencies() const;
    void decide_modulation();
    void say(bool agrees, const std::string& key) {
        (agrees ? result_.agreeing : result_.undecided).push_back(key);
    }

    const Host& host_;
    const SlotGrids& slots_;
    std::span<const double> center_frequencies_;
    const std::function<bool()>& goes_on_;
    SlotSchedule schedule_;
    std::vector<cf32> grid_;
    std::vector<std::uint64_t> occasions_;
    std::optional<Receiver> receiver_;
    SymbolSearch result_;
    Fit best_;  ///< of result_.link
};

/// Those with DM-RS, or the best one.
void Search::choose_slots() {
    Receiver& receiver = receiver_of(slots_.config.link.allocation);
    const std::size_t of_slot = slots_.grid.size() / slots_.occasions.size();
    std::vector<ReceivedSlot> received(slots_.occasions.size());
    for (std::size_t i = 0; i < received.size(); ++i)
        receiver(std::span(slots_.grid).subspan(i * of_slot, of_slot), slots_.occasions[i],
                 {.slots = std::span(received).subspan(i, 1)});
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < received.size(); ++i)
        order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return received[a].estimate.coherence > received[b].estimate.coherence;
    });
    const std::size_t wanted =
        std::clamp<std::size_t>(enough_symbols / symbols_of(slots_.config.link) + 1, 1, max_slots);
    for (const std::size_t i : order) {
        const bool has_pilots =
            received[i].estimate.coherence >= min_coherence(slots_.config.link.allocation);
        if (occasions_.size() == wanted || (!has_pilots && !occasions_.empty())) break;
        occasions_.push_back(slots_.occasions[i]);
        const auto begin = slots_.grid.begin() + static_cast<std::ptrdiff_t>(i * of_slot);
        grid_.insert(grid_.end(), begin, begin + static_cast<std::ptrdiff_t>(of_slot));
        result_.timing_offset += static_cast<double>(received[i].estimate.timing_offset);
    }
    result_.timing_offset /= static_cast<double>(occasions_.size());
}

/// As if f0 had been higher by this.
std::vector<cf32> Search::rotated_grid(double hertz) const {
    std::vector<cf32> grid = grid_;
    if (hertz == 0.0) return grid;
    const OfdmTiming& timing = *slots_.timing;
    const double rate = *slots_.config.link.carrier.sample_rate;
    const std::size_t width = timing.subcarriers();
    const std::size_t antennas = static_cast<std::size_t>(slots_.config.antennas);
    cf32* row = grid.data();
    for (const std::uint64_t occasion : occasions_) {
        const std::uint64_t slot = schedule_.slot(occasion);
        for (std::size_t antenna = 0; antenna < antennas; ++antenna) {
            for (std::size_t symbol = 0; symbol < symbols_per_slot; ++symbol, row += width) {
                const std::size_t end =
                    timing.symbol_start(slot, symbol) + timing.prefix_samples(slot, symbol);
                const cf32 phase(elementary::turn(std::fmod(hertz * static_cast<double>(end) / rate, 1.0)));
                for (std::size_t k = 0; k < width; ++k)
                    row[k] *= phase;
            }
        }
    }
    return grid;
}

/// A receiver of grids needs neither f0 nor the modulation for its symbols: one serves all that are tried.
Receiver& Search::receiver_of(const SlotAllocation& allocation) {
    if (!receiver_ || receiver_->config().link.allocation != allocation) {
        ReceiverConfig config = slots_.config;
        config.link.allocation = allocation;
        config.input = ReceiverInput::grid;
        receiver_.emplace(host_, config);
    }
    return *receiver_;
}

Symbols Search::receive(const Link& link) {
    const double own = slots_.config.link.carrier.center_frequency.value_or(0.0);
    const std::vector<cf32> grid = rotated_grid(link.carrier.center_frequency.value_or(0.0) - own);
    Receiver& receiver = receiver_of(link.allocation);
    Symbols out = {.of_slot = receiver.symbols_per_slot()};
    out.symbols.resize(out.of_slot * occasions_.size());
    out.noise.resize(out.symbols.size());
    const std::size_t of_grid = grid.size() / occasions_.size();
    for (std::size_t i = 0; i < occasions_.size(); ++i)
        receiver(std::span(grid).subspan(i * of_grid, of_grid), occasions_[i],
                 {.symbols = std::span(out.symbols).subspan(i * out.of_slot, out.of_slot),
                  .noise_variance = std::span(out.noise).subspan(i * out.of_slot, out.of_slot)});
    return out;
}

/// With the modulation that fits best.
Fit Search::fit(const Link& link) {
    ++result_.tried;
    const Symbols received = receive(link);
    const std::size_t step = step_for(received.symbols.size(), compared_symbols);
    Fit best;
    double most = 0.0;
    for (const Modulation modulation : all_modulations) {
        // BPSK is not a modulation of PUSCH or PDSCH without transform precoding.
        if (bits_per_symbol(modulation) == 1 && modulation != link.modulation &&
            !link.allocation.dmrs.transform_precoding)
            continue;
        SymbolFit with = fit_symbols(received.symbols, received.noise, received.of_slot, step, modulation);
        const double bits = std::accumulate(with.bits.begin(), with.bits.end(), 0.0);
        if (!best.best.bits.empty() && bits <= most) continue;
        most = bits;
        best.evidence = with.evidence;
        best.modulation = modulation;
        best.best = std::move(with);
    }
    best.of_slot = best.evidence * static_cast<double>(received.of_slot);
    best.margin = 0.05 + 2.0 / std::sqrt(static_cast<double>(best.best.bits.size()));
    return best;
}

/// Takes the link if its slots have at least that many bits more, in units of the margin.
bool Search::improve(const Link& link, double min_gain) {
    if (!can_be(link) || link.allocation.layers() > slots_.config.antennas || !goes_on_()) return false;
    Fit other = fit(link);
    const auto symbols = static_cast<double>(symbols_of(result_.link));
    if (other.of_slot < best_.of_slot + min_gain * best_.margin * symbols) return false;
    best_ = std::move(other);
    result_.link = link;
    return true;
}

void Search::decide_ports() {
    std::vector<int> numbers;
    for (const std::uint64_t occasion : occasions_)
        numbers.push_back(schedule_.slot_in_frame(occasion));
    const std::vector<int> own = result_.link.allocation.dmrs.ports;
    const std::vector<int> active = active_ports(result_.link.allocation, grid_, numbers,
                                                 static_cast<std::size_t>(slots_.config.antennas));
    if (active == own) return say(true, "dmrs.ports");
    Link link = result_.link;
    DmrsConfig& dmrs = link.allocation.dmrs;
    dmrs.ports = active;
    for (const int port : active)
        dmrs.cdm_groups_without_data =
            std::max(dmrs.cdm_groups_without_data, dmrs_port(dmrs.type, port).cdm_group + 1);
    const bool are_fewer = std::all_of(active.begin(), active.end(), [&](int port) {
        return std::find(own.begin(), own.end(), port) != own.end();
    });
    if (active.empty() || !improve(link, are_fewer ? -1.0 : 1.0)) say(false, "dmrs.ports");
}

/// Whether others fit clearly worse; none: it has changed, or there is no other.
std::optional<bool> Search::decide_groups_without_data() {
    if (result_.link.allocation.dmrs.transform_precoding) return std::nullopt;
    const Link own = result_.link;
    bool agrees = true;
    for (int groups = 1; groups <= (own.allocation.dmrs.type == 1 ? 2 : 3); ++groups) {
        Link link = own;
        link.allocation.dmrs.cdm_groups_without_data = groups;
        if (link == own || !can_be(link) || improve(link, 1.0)) continue;
        const Fit other = fit(link);
        agrees =
            agrees && other.of_slot + best_.margin * static_cast<double>(symbols_of(own)) < best_.of_slot;
    }
    return result_.link == own ? std::optional(agrees) : std::nullopt;
}

double power_of(const DmrsConfig& dmrs) {
    const auto amplitude = static_cast<double>(dmrs_amplitude(dmrs));
    return elementary::decibels(amplitude * amplitude);
}

/// power_db of the DM-RS with which symbols have unit mean power: a usual one, or a multiple of 0.1 dB.
std::optional<double> Search::measured_power(const Link& link) {
    const Symbols received = receive(link);
    double sum = 0.0;
    double weights = 0.0;
    for (std::size_t i = 0; i < received.symbols.size(); ++i) {
        const auto noise = static_cast<double>(received.noise[i]);
        const auto power = static_cast<double>(std::norm(received.symbols[i]));
        if (!std::isfinite(noise) || !std::isfinite(power)) continue;
        const double weight = 1.0 / ((1.0 + noise) * (1.0 + noise));
        sum += weight * (power - noise);
        weights += weight;
    }
    if (!(sum > 0.0)) return std::nullopt;
    const double measured = power_of(link.allocation.dmrs) - elementary::decibels(sum / weights);
    for (const double usual : usual_powers)
        if (std::fabs(measured - usual) < same_power) return usual;
    return std::round(10.0 * measured) / 10.0;
}

/// Returns whether it has changed. own: the link before other CDM groups without data were taken for the
/// cause.
bool Search::decide_power(const Link& own) {
    const auto with = [&](double power) {
        Link link = own;
        link.allocation.dmrs.power_db = static_cast<float>(power);
        return link;
    };
    const double power = power_of(own.allocation.dmrs);
    const auto differs = [&](double other) { return std::fabs(other - power) >= same_power; };
    const std::optional<double> measured = measured_power(own);
    if (measured && differs(*measured) && improve(with(*measured), result_.link == own ? 1.0 : 0.0))
        return true;
    if (result_.link != own) return false;
    const bool agrees = std::ranges::all_of(usual_powers, [&](double usual) {
        return !differs(usual) || fit(with(usual)).evidence + best_.margin < best_.evidence;
    });
    say(agrees, "dmrs.power_db");
    return false;
}

/// f0 that people take for the right one.
std::vector<double> Search::usual_center_frequencies() const {
    const LinkCarrier& carrier = result_.link.carrier;
    std::vector<double> given(center_frequencies_.begin(), center_frequencies_.end());
    given.push_back(*carrier.center_frequency);
    given.push_back(*carrier.center_frequency + carrier.frequency_shift);
    given.push_back(*carrier.center_frequency - carrier.frequency_shift);
    std::vector<double> usual = {0.0};
    usual.insert(usual.end(), given.begin(), given.end());
    for (const double frequency : given)
        for (const double raster : rasters)
            usual.push_back(raster * std::round(frequency / raster));
    std::erase(usual, *carrier.center_frequency);
    for (auto end = usual.begin(); end != usual.end(); ++end)
        usual.erase(std::remove(end + 1, usual.end(), *end), usual.end());
    return usual;
}

void Search::decide_center_frequency() {
    if (!slots_.timing) return;
    const Link own = result_.link;
    const double f0 = *own.carrier.center_frequency;
    const Fit of_own = best_;
    const auto with = [&](double frequency) {
        Link link = own;
        link.carrier.center_frequency = frequency;
        return link;
    };
    for (const double frequency : usual_center_frequencies())
        improve(with(frequency), result_.link == own ? 1.0 : 0.25);

    const double rate = own.carrier.subcarrier_spacing / (1.0 + 144.0 / 2048.0);
    const DmrsConfig& dmrs = own.allocation.dmrs;
    const bool is_once = dmrs.symbols.size() == static_cast<std::size_t>(dmrs.length);
    const int steps = is_once ? coarse_steps_with_one_dmrs : coarse_steps;
    const bool halves_differ = slots_.timing->slots_per_subframe() == 1;
    const double period = halves_differ ? no_rotation : rate;
    std::vector<double> others;
    double best = f0;
    double evidence = of_own.evidence;
    const auto scan = [&](double middle, double step, int first, int last) {
        for (int i = first; i <= last; ++i) {
            const double frequency = middle + i * step;
            if (frequency == f0 || !goes_on_()) continue;
            const Fit other = fit(with(frequency < 0.0 ? frequency + period : frequency));
            others.push_back(other.evidence);
            if (other.evidence <= evidence) continue;
            evidence = other.evidence;
            best = frequency;
        }
    };
    for (int half = 0; half < (halves_differ ? steps_of_halves : 1); ++half)
        scan(f0 + half * rates_of_step * rate, rate / steps, -steps / 2, steps / 2 - 1);
    if (others.empty()) return;
    const auto middle = others.begin() + static_cast<std::ptrdiff_t>(others.size() / 2);
    std::nth_element(others.begin(), middle, others.end());
    const double usual = *middle;
    if (best != f0 && halves_differ) scan(best, rate, -rates_of_step / 2, rates_of_step / 2);
    if (best != f0) scan(best, rate / steps / fine_steps, -fine_steps + 1, fine_steps - 1);
    improve(with(std::round(best < 0.0 ? best + period : best)), 1.0);
    say(best_.evidence > usual + best_.margin,
        "center_frequency (modulo " + std::to_string(std::lround(period)) + " Hz)");
}

void Search::decide_modulation() {
    const Symbols received = receive(result_.link);
    const std::size_t step = step_for(received.symbols.size(), decisive_symbols);
    std::vector<SymbolFit> fits;
    for (const Modulation modulation : all_modulations)
        fits.push_back(fit_symbols(received.symbols, received.noise, received.of_slot, step, modulation));
    const auto own = static_cast<std::size_t>(result_.link.modulation);
    std::size_t best = own;
    for (std::size_t i = 0; i < fits.size(); ++i)
        if (fits[i].is_better_than(fits[best], min_bits)) best = i;
    bool agrees = true;
    for (std::size_t i = 0; i < fits.size(); ++i)
        if (i != best && !fits[best].is_better_than(fits[i], min_bits)) agrees = false;
    result_.tried += fits.size();
    result_.link.modulation = all_modulations[best];
    say(agrees, "modulation");
    result_.evidence = fits[best].evidence;
    result_.excess = fits[best].excess;
    std::vector<float> noise;
    std::copy_if(received.noise.begin(), received.noise.end(), std::back_inserter(noise),
                 [](float n0) { return std::isfinite(n0); });
    if (noise.empty()) return;
    const auto half = noise.begin() + static_cast<std::ptrdiff_t>(noise.size() / 2);
    std::nth_element(noise.begin(), half, noise.end());
    result_.evm = std::sqrt(result_.excess * static_cast<double>(*half));
}

SymbolSearch Search::operator()() {
    choose_slots();
    best_ = fit(result_.link);
    decide_ports();
    const Link own = result_.link;
    std::optional<bool> agrees = decide_groups_without_data();
    if (decide_power(own)) agrees = decide_groups_without_data();
    if (agrees) say(*agrees, "dmrs.cdm_groups_without_data");
    decide_center_frequency();
    decide_modulation();
    return std::move(result_);
}

}  // namespace

SymbolSearch search_by_symbols(const Host& host, const SlotGrids& slots,
                               std::span<const double> center_frequencies,
                               const std::function<bool()>& goes_on) {
    return Search(host, slots, center_frequencies, goes_on)();
}

}  // namespace phy::detail
