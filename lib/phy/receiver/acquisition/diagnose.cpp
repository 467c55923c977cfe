#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <limits>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/pilot_pairs.hpp"
#include "phy/receiver/acquisition/prefix.hpp"

namespace phy {
namespace {

constexpr std::size_t max_trials = 10;
constexpr double max_chance = 1e-6;
/// Max EVM of another f0, as a share of the EVM with the link's.
constexpr double clear_share_of_evm = 0.9;

/// Symbols of a slot that may have DM-RS.
struct DmrsPattern {
    std::vector<int> symbols;
    int length = 1;
    friend bool operator==(const DmrsPattern&, const DmrsPattern&) = default;
};

std::optional<DmrsPattern> pattern_of(const DmrsPlacement& placement) {
    try {
        return DmrsPattern{.symbols = dmrs_symbols(placement), .length = placement.length};
    } catch (const ArgumentError&) {
        return {};  // no such entry in the tables
    }
}

/// The link's pattern first, then those of every mapping type, dmrs-TypeA-Position, length and number of
/// additional positions that fit into the allocation's symbols.
std::vector<DmrsPattern> dmrs_patterns(const Link& link) {
    const SlotAllocation& allocation = link.allocation;
    std::vector<DmrsPattern> patterns = {{allocation.dmrs.symbols, allocation.dmrs.length}};
    const auto add = [&](char type, int position, int additional, int length) {
        const auto pattern = pattern_of({.direction = link.direction,
                                         .mapping_type = type,
                                         .first_symbol = allocation.first_symbol,
                                         .symbols = allocation.symbols,
                                         .type_a_position = position,
                                         .additional_positions = additional,
                                         .length = length});
        if (!pattern || pattern->symbols.front() < allocation.first_symbol ||
            pattern->symbols.back() >= allocation.first_symbol + allocation.symbols)
            return;
        if (std::find(patterns.begin(), patterns.end(), *pattern) == patterns.end())
            patterns.push_back(*pattern);
    };
    for (const int length : {1, 2}) {
        for (int additional = 0; additional <= 3; ++additional) {
            add('A', 2, additional, length);
            add('A', 3, additional, length);
            add('B', 2, additional, length);
        }
    }
    return patterns;
}

/// DM-RS settings to try, and their score.
struct Setting {
    int type = 1;
    std::uint32_t scrambling_id = 0;
    int n_scid = 0;
    int first_slot = 0;
    std::size_t pattern = 0;
    double coherence = 0.0;
    double surprisal = 0.0;  ///< -ln of the probability of that coherence without such pilots
    double repeats = 1.0;    ///< symbols with the same pilots, which match all or none by chance
};

/// The contribution of a pair to the surprisal of a coherence, for wrong pilots whose products are rotated by
/// random quarter turns: Chernoff's bound.
double surprisal_of_pair(double coherence) {
    // Without noise all pairs agree exactly.
    const double rest = std::max(1.0 - coherence, 1e-6);
    return (1.0 + coherence) * detail::elementary::log(1.0 + coherence) +
           rest * detail::elementary::log(rest);
}

bool differ_in_slot_alone(const Setting& a, const Setting& b) {
    return a.type == b.type && a.scrambling_id == b.scrambling_id && a.n_scid == b.n_scid &&
           a.pattern == b.pattern;
}

/// The value first, then the others, each once.
template <typename Value>
std::vector<Value> with_first(Value first, const std::vector<Value>& others) {
    std::vector<Value> all = {first};
    for (const Value& value : others)
        if (std::find(all.begin(), all.end(), value) == all.end()) all.push_back(value);
    return all;
}

bool can_be(const Link& link) {
    try {
        check(link);
        return true;
    } catch (const ArgumentError&) {
        return false;
    }
}

std::string change_of(const Link& from, const Link& to) {
    std::string text;
    const auto add = [&](const char* key, const std::string& value) {
        text += (text.empty() ? "" : ", ") + std::string(key) + " " + value;
    };
    const DmrsConfig& old = from.allocation.dmrs;
    const DmrsConfig& dmrs = to.allocation.dmrs;
    if (to.carrier.first_slot != from.carrier.first_slot)
        add("carrier.first_slot", std::to_string(to.carrier.first_slot));
    if (to.carrier.center_frequency != from.carrier.center_frequency)
        add("carrier.center_frequency", detail::number_text(to.carrier.center_frequency.value_or(0.0)));
    if (dmrs.type != old.type) add("allocation.dmrs.type", std::to_string(dmrs.type));
    if (dmrs.length != old.length) add("allocation.dmrs.length", std::to_string(dmrs.length));
    if (dmrs.symbols != old.symbols) {
        std::string symbols;
        for (const int symbol : dmrs.symbols)
            symbols += (symbols.empty() ? "[" : ", ") + std::to_string(symbol);
        add("allocation.dmrs.symbols", symbols + "]");
    }
    if (dmrs.scrambling_id != old.scrambling_id)
        add("allocation.dmrs.scrambling_id", std::to_string(dmrs.scrambling_id));
    if (dmrs.n_scid != old.n_scid) add("allocation.dmrs.n_scid", std::to_string(dmrs.n_scid));
    return text;
}

class Diagnoser {
public:
    Diagnoser(const Host& host, const ReceiverConfig& config, SymbolView input,
              const DiagnoseOptions& options);

    Diagnosis operator()();

private:
    /// Correlations of one slot with the pilots of one slot number, by symbol.
    struct SlotScore {
        std::complex<double> correlation[symbols_per_slot];
    };

    [[nodiscard]] Link link_of(const Setting& setting) const;
    [[nodiscard]] std::vector<cf32> make_grid() const;
    void try_type(int type, const std::vector<cf32>& grid);
    void try_identity(const detail::PilotPairs& pairs, Setting setting, const std::vector<bool>& can);
    void score(const detail::PilotPairs& pairs, const std::vector<SlotScore>& scores, Setting& setting) const;
    [[nodiscard]] std::complex<double> phase_of(const Setting& setting, std::size_t slot) const;
    [[nodiscard]] bool is_used(int slot) const;
    [[nodiscard]] bool slots_are_equal() const;
    [[nodiscard]] Trial trial_of(const Setting& setting) const;
    [[nodiscard]] std::vector<Trial> best_trials() const;
    [[nodiscard]] double evm_of(const Link& link) const;
    std::size_t try_center_frequencies(std::vector<Trial>& trials) const;

    Host host_;
    detail::ReceiverPlan plan_;
    const Link& link_;
    SymbolView input_;
    std::size_t slots_;
    int slots_per_frame_;
    std::vector<std::uint32_t> identities_;
    std::vector<double> center_frequencies_;
    std::vector<DmrsPattern> patterns_;
    std::vector<Setting> settings_;
};

Diagnoser::Diagnoser(const Host& host, const ReceiverConfig& config, SymbolView input,
                     const DiagnoseOptions& options)
    : host_(host),
      plan_(config),
      link_(plan_.config.link),
      input_(input),
      slots_(input.size() / (plan_.antennas * plan_.input)),
      slots_per_frame_(slots_per_frame(link_.carrier)),
      patterns_(dmrs_patterns(link_)) {
    if (slots_ == 0 || input.size() != slots_ * plan_.antennas * plan_.input)
        throw ArgumentError("input has " + std::to_string(input.size()) +
                            " elements: expected a multiple of " +
                            std::to_string(plan_.antennas * plan_.input) + ", the elements of a slot");
    std::vector<std::uint32_t> others;
    if (link_.carrier.cell_id) others.push_back(static_cast<std::uint32_t>(*link_.carrier.cell_id));
    others.insert(others.end(), options.scrambling_ids.begin(), options.scrambling_ids.end());
    identities_ = with_first(link_.allocation.dmrs.scrambling_id, others);
    center_frequencies_ = with_first(0.0, options.center_frequencies);
    std::erase(center_frequencies_, link_.carrier.center_frequency.value_or(0.0));
}

Link Diagnoser::link_of(const Setting& setting) const {
    Link link = link_;
    DmrsConfig& dmrs = link.allocation.dmrs;
    link.carrier.first_slot = setting.first_slot;
    dmrs.type = setting.type;
    dmrs.scrambling_id = setting.scrambling_id;
    dmrs.n_scid = setting.n_scid;
    dmrs.symbols = patterns_[setting.pattern].symbols;
    dmrs.length = patterns_[setting.pattern].length;
    return link;
}

std::vector<cf32> Diagnoser::make_grid() const {
    std::vector<cf32> grid(slots_ * plan_.grid);
    if (!plan_.demodulator) {
        std::vector<float> re(grid.size());
        std::vector<float> im(grid.size());
        detail::read_samples(input_, re.data(), im.data());
        for (std::size_t i = 0; i < grid.size(); ++i)
            grid[i] = {re[i], im[i]};
        return grid;
    }
    OfdmDemodulator demodulate(host_, *plan_.demodulator);
    const std::size_t of_slot = plan_.antennas * plan_.input;
    for (std::size_t i = 0; i < slots_; ++i)
        demodulate(input_.subspan(i * of_slot, of_slot),
                   {.first = static_cast<std::uint64_t>(link_.carrier.first_slot) + i,
                    .count = 1,
                    .stride = plan_.input},
                   std::span(grid).subspan(i * plan_.grid, plan_.grid));
    return grid;
}

bool Diagnoser::is_used(int slot) const {
    const std::vector<int>& slots = link_.slots;
    return slots.empty() || std::find(slots.begin(), slots.end(), slot) != slots.end();
}

/// True if DM-RS do not depend on the slot, nor on the symbol.
bool Diagnoser::slots_are_equal() const {
    const DmrsConfig& dmrs = link_.allocation.dmrs;
    return dmrs.transform_precoding && dmrs.hopping == SequenceHopping::none;
}

/// Above 30 kHz some slots begin with a longer prefix, so another first slot shifts the symbols in time.
/// Returns the conjugate of the rotation that this causes in a pair of pilots.
std::complex<double> Diagnoser::phase_of(const Setting& setting, std::size_t slot) const {
    if (!plan_.demodulator || setting.first_slot == link_.carrier.first_slot) return 1.0;
    const OfdmTiming timing(plan_.demodulator->ofdm);
    const auto window = [&](int first_slot) {
        const auto first = static_cast<std::uint64_t>(first_slot);
        return static_cast<double>(timing.slot_start(first + slot) - timing.slot_start(first) +
                                   timing.prefix_samples(first + slot, 0));
    };
    const double late = window(setting.first_slot) - window(link_.carrier.first_slot);
    const double turns =
        late * detail::subcarriers_of_pair(setting.type) / static_cast<double>(timing.fft_size());
    return detail::elementary::phasor(-2.0 * std::numbers::pi * turns);
}

/// Scores a setting; 0 if none of the slots is in its schedule.
void Diagnoser::score(const detail::PilotPairs& pairs, const std::vector<SlotScore>& scores,
                      Setting& setting) const {
    std::complex<double> sum = 0.0;
    double energy = 0.0;
    double squares = 0.0;
    for (std::size_t slot = 0; slot < slots_; ++slot) {
        const std::complex<double> phase = phase_of(setting, slot);
        const auto number = (static_cast<std::size_t>(setting.first_slot) + slot) %
                            static_cast<std::size_t>(slots_per_frame_);
        if (!is_used(static_cast<int>(number))) continue;
        for (const int l : patterns_[setting.pattern].symbols) {
            const auto symbol = static_cast<std::size_t>(l);
            sum += phase * scores[number * slots_ + slot].correlation[symbol];
            const double of_symbol = pairs.energy(slot, symbol);
            energy += of_symbol;
            squares += of_symbol * of_symbol;
        }
    }
    setting.coherence = energy > 0.0 ? std::min(std::sqrt(std::norm(sum)) / energy, 1.0) : 0.0;
    // The effective number of symbols: louder ones count more, so all together count as fewer.
    const double symbols = squares > 0.0 ? energy * energy / squares : 0.0;
    // An extra symbol without pilots costs more coherence than it adds pairs.
    setting.surprisal = symbols * static_cast<double>(pairs.pairs()) * surprisal_of_pair(setting.coherence);
    if (slots_are_equal()) setting.repeats = std::max(symbols, 1.0);
}

void Diagnoser::try_identity(const detail::PilotPairs& pairs, Setting setting, const std::vector<bool>& can) {
    // Pilots in every symbol, though no allocation has them.
    SlotAllocation allocation = link_.allocation;
    allocation.first_symbol = 0;
    allocation.symbols = symbols_per_slot;
    allocation.dmrs.type = setting.type;
    allocation.dmrs.scrambling_id = setting.scrambling_id;
    allocation.dmrs.n_scid = setting.n_scid;
    allocation.dmrs.length = 1;
    allocation.dmrs.symbols.clear();
    for (int symbol = 0; symbol < symbols_per_slot; ++symbol)
        allocation.dmrs.symbols.push_back(symbol);
    std::vector<cf32> pilots(dmrs_pilot_count(allocation));
    const std::size_t of_symbol = pilots.size() / symbols_per_slot;

    const auto numbers = static_cast<std::size_t>(slots_per_frame_);
    std::vector<SlotScore> scores(numbers * slots_);
    for (std::size_t number = 0; number < numbers; ++number) {
        dmrs_pilots(allocation, static_cast<int>(number), pilots);
        for (std::size_t slot = 0; slot < slots_; ++slot)
            for (std::size_t symbol = 0; symbol < symbols_per_slot; ++symbol)
                scores[number * slots_ + slot].correlation[symbol] =
                    pairs.correlation(slot, symbol, std::span(pilots).subspan(symbol * of_symbol, of_symbol));
    }
    for (int i = 0; i < slots_per_frame_; ++i) {
        // The link's own first, so that it wins among equal settings.
        setting.first_slot = (link_.carrier.first_slot + i) % slots_per_frame_;
        for (setting.pattern = 0; setting.pattern < patterns_.size(); ++setting.pattern)
            if (can[setting.pattern]) {
                score(pairs, scores, setting);
                settings_.push_back(setting);
            }
    }
}

void Diagnoser::try_type(int type, const std::vector<cf32>& grid) {
    std::vector<bool> can;
    Setting setting = {.type = type,
                       .scrambling_id = link_.allocation.dmrs.scrambling_id,
                       .n_scid = link_.allocation.dmrs.n_scid,
                       .first_slot = link_.carrier.first_slot};
    for (setting.pattern = 0; setting.pattern < patterns_.size(); ++setting.pattern)
        can.push_back(can_be(link_of(setting)));
    const auto possible = static_cast<std::size_t>(std::find(can.begin(), can.end(), true) - can.begin());
    if (possible == can.size()) return;
    const detail::PilotPairs pairs(link_of({.type = type}).allocation, grid, plan_.antennas);
    const bool is_precoded = link_.allocation.dmrs.transform_precoding;
    for (const std::uint32_t identity : identities_) {
        setting.scrambling_id = identity;
        for (const int n_scid : with_first(link_.allocation.dmrs.n_scid, {0, 1})) {
            setting.n_scid = n_scid;
            setting.pattern = possible;
            if (is_precoded && n_scid != link_.allocation.dmrs.n_scid) continue;
            // An identity may be out of range for low-PAPR sequences.
            if (!can_be(link_of(setting))) continue;
            try_identity(pairs, setting, can);
        }
    }
}

Trial Diagnoser::trial_of(const Setting& setting) const {
    const Link link = link_of(setting);
    const double chance = detail::elementary::exp(-setting.surprisal / setting.repeats);
    return {.change = change_of(link_, link),
            .link = link,
            .coherence = setting.coherence,
            .chance = std::min(static_cast<double>(settings_.size()) * chance, 1.0),
            .evm = std::numeric_limits<double>::quiet_NaN()};
}

/// The best settings, including that of the link, which was tried first.
std::vector<Trial> Diagnoser::best_trials() const {
    std::vector<Setting> best = settings_;
    std::stable_sort(best.begin(), best.end(),
                     [](const Setting& a, const Setting& b) { return a.surprisal > b.surprisal; });
    best.resize(std::min(best.size(), max_trials));
    std::vector<Trial> trials;
    for (const Setting& setting : best)
        trials.push_back(trial_of(setting));
    if (trials.empty()) return trials;

    auto own =
        std::find_if(trials.begin(), trials.end(), [](const Trial& trial) { return trial.change.empty(); });
    if (own == trials.end()) *--own = trial_of(settings_.front());
    // If slots have the same pilots, a slightly better one says nothing about slot numbers.
    const bool is_equal = slots_are_equal() && differ_in_slot_alone(settings_.front(), best.front());
    if (is_equal && own->is_found()) std::rotate(trials.begin(), own, own + 1);
    return trials;
}

/// The min over slots, as slots may be empty, after correcting the frequency offset that cyclic prefixes
/// show.
double Diagnoser::evm_of(const Link& link) const {
    ReceiverConfig config = plan_.config;
    config.link = link;
    const SlotSchedule schedule(link);
    const std::size_t of_slot = plan_.antennas * plan_.input;
    const auto input_of = [&](std::uint64_t occasion) {
        const std::uint64_t slot = schedule.slot(occasion) - schedule.first_slot();
        return input_.subspan(static_cast<std::size_t>(slot) * of_slot, of_slot);
    };
    detail::PrefixCorrelator correlate{detail::ReceiverPlan(config)};
    std::complex<double> prefixes = 0.0;
    const std::uint64_t occasions = schedule.occasions(slots_);
    for (std::uint64_t i = 0; i < occasions; ++i)
        prefixes += correlate(input_of(i), schedule.slot(i), 0);
    config.link.carrier.frequency_shift -=
        detail::elementary::angle_of(prefixes) / (2.0 * std::numbers::pi) * link.carrier.subcarrier_spacing;

    Receiver receive(host_, config);
    double least = std::numeric_limits<double>::quiet_NaN();
    for (std::uint64_t i = 0; i < occasions; ++i) {
        ReceivedSlot received;
        receive(input_of(i), i, {.slots = std::span(&received, 1)});
        least = std::fmin(least, slot_report(received, config, schedule.slot(i)).evm);
    }
    return least;
}

/// f0 does not affect the coherence within symbols. It rotates symbols against each other, which the EVM
/// shows. Returns the number of frequencies tried.
std::size_t Diagnoser::try_center_frequencies(std::vector<Trial>& trials) const {
    if (!plan_.demodulator || trials.empty()) return 0;
    Trial best = trials.front();
    if (!best.is_found()) return 0;
    std::vector<Trial> others;
    for (const double frequency : center_frequencies_) {
        Trial other = best;
        other.link.carrier.center_frequency = frequency;
        if (!can_be(other.link)) continue;
        other.change = change_of(link_, other.link);
        other.evm = evm_of(other.link);
        others.push_back(std::move(other));
    }
    if (others.empty()) return 0;
    std::stable_sort(others.begin(), others.end(),
                     [](const Trial& a, const Trial& b) { return a.evm < b.evm; });
    best.evm = evm_of(best.link);
    const bool is_better = others.front().evm < clear_share_of_evm * best.evm;
    trials.front() = std::move(best);
    trials.insert(trials.begin() + 1, others.begin(), others.end());
    if (is_better) std::swap(trials[0], trials[1]);
    while (trials.size() > max_trials) {
        // Keeps the unchanged link.
        const std::size_t last = trials.back().change.empty() ? trials.size() - 2 : trials.size() - 1;
        trials.erase(trials.begin() + static_cast<std::ptrdiff_t>(last));
    }
    return others.size();
}

Diagnosis Diagnoser::operator()() {
    const std::vector<cf32> grid = make_grid();
    const bool is_precoded = link_.allocation.dmrs.transform_precoding;
    for (const int type : with_first(link_.allocation.dmrs.type, {1, 2}))
        if (type == link_.allocation.dmrs.type || !is_precoded) try_type(type, grid);
    Diagnosis diagnosis;
    diagnosis.trials = best_trials();
    diagnosis.tried = settings_.size() + try_center_frequencies(diagnosis.trials);
    return diagnosis;
}

}  // namespace

bool Trial::is_found() const {
    return coherence >= min_coherence(link.allocation) && chance <= max_chance;
}

Diagnosis diagnose(const Host& host, const ReceiverConfig& config, SymbolView input,
                   const DiagnoseOptions& options) {
    return Diagnoser(host, config, input, options)();
}

}  // namespace phy
