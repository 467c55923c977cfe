#include "phy/receiver/acquisition/setting_search.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <optional>

#include "phy/core/error.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/pilot_pairs.hpp"

namespace phy::detail {
namespace {

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

/// The link's pattern first.
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

struct Setting {
    int type = 1;
    std::uint32_t scrambling_id = 0;
    int n_scid = 0;
    int first_slot = 0;
    std::size_t pattern = 0;
    double coherence = 0.0;
    double surprisal = 0.0;
    double repeats = 1.0;
};

/// The contribution of a pair to the surprisal of a coherence, for wrong pilots whose products are rotated by
/// random quarter turns: Chernoff's bound.
double surprisal_of_pair(double coherence) {
    // Without noise all pairs agree exactly.
    const double rest = std::max(1.0 - coherence, 1e-6);
    return (1.0 + coherence) * elementary::log(1.0 + coherence) + rest * elementary::log(rest);
}

/// The value first, then the others.
std::vector<int> with_first(int first, int other, int another) {
    return first == other ? std::vector{first, another} : std::vector{first, other};
}

class Search {
public:
    Search(const ReceiverPlan& plan, std::span<const cf32> grid, std::span<const std::uint32_t> identities,
           const std::function<bool()>& goes_on)
        : plan_(plan),
          link_(plan.config.link),
          grid_(grid),
          slots_(grid.size() / plan.grid),
          slots_per_frame_(slots_per_frame(link_.carrier)),
          identities_(identities),
          goes_on_(goes_on),
          patterns_(dmrs_patterns(link_)) {}

    SettingSearch operator()();

private:
    /// Correlations of one slot with the pilots of one slot number, by symbol.
    struct SlotScore {
        std::complex<double> correlation[symbols_per_slot];
    };

    [[nodiscard]] Link link_of(const Setting& setting) const;
    [[nodiscard]] FoundSetting found_of(const Setting& setting) const;
    void try_type(int type);
    void try_identity(const PilotPairs& pairs, Setting setting);
    void score(const PilotPairs& pairs, const std::vector<SlotScore>& scores, Setting& setting) const;
    [[nodiscard]] std::complex<double> phase_of(const Setting& setting, std::size_t slot) const;
    [[nodiscard]] bool slots_are_equal() const;
    [[nodiscard]] bool differs_in_slot_alone(const Setting& setting) const;
    void keep(const Setting& setting);

    const ReceiverPlan& plan_;
    const Link& link_;
    std::span<const cf32> grid_;
    std::size_t slots_;
    int slots_per_frame_;
    std::span<const std::uint32_t> identities_;
    const std::function<bool()>& goes_on_;
    std::vector<DmrsPattern> patterns_;
    std::vector<bool> possible_;  ///< patterns with the type
    Setting own_;
    Setting best_;
    std::size_t tried_ = 0;
};

Link Search::link_of(const Setting& setting) const {
    Link link = link_;
    DmrsConfig& dmrs = link.allocation.dmrs;
    link.carrier.first_slot = setting.first_slot;
    dmrs.type = setting.type;
    dmrs.scrambling_id = setting.scrambling_id;
    dmrs.n_scid = setting.n_scid;
    dmrs.symbols = patterns_[setting.pattern].symbols;
    dmrs.length = patterns_[setting.pattern].length;
    // The other type may have no such ports.
    if (link.allocation.ptrs && setting.type != link_.allocation.dmrs.type)
        link.allocation.ptrs->ports.clear();
    return link;
}

FoundSetting Search::found_of(const Setting& setting) const {
    return {.link = link_of(setting),
            .coherence = setting.coherence,
            .surprisal = setting.surprisal,
            .repeats = setting.repeats};
}

/// True if DM-RS do not depend on the slot, nor on the symbol.
bool Search::slots_are_equal() const {
    const DmrsConfig& dmrs = link_.allocation.dmrs;
    return dmrs.transform_precoding && dmrs.hopping == SequenceHopping::none;
}

bool Search::differs_in_slot_alone(const Setting& setting) const {
    return setting.type == own_.type && setting.scrambling_id == own_.scrambling_id &&
           setting.n_scid == own_.n_scid && setting.pattern == own_.pattern;
}

/// Above 30 kHz some slots begin with a longer prefix, so another first slot shifts the symbols in time.
/// Returns the conjugate of the rotation that this causes in a pair of pilots.
std::complex<double> Search::phase_of(const Setting& setting, std::size_t slot) const {
    if (!plan_.demodulator || setting.first_slot == link_.carrier.first_slot) return 1.0;
    const OfdmTiming timing(plan_.demodulator->ofdm);
    const auto window = [&](int first_slot) {
        const auto first = static_cast<std::uint64_t>(first_slot);
        return static_cast<double>(timing.slot_start(first + slot) - timing.slot_start(first) +
                                   timing.prefix_samples(first + slot, 0));
    };
    const double late = window(setting.first_slot) - window(link_.carrier.first_slot);
    const double turns = late * subcarriers_of_pair(setting.type) / static_cast<double>(timing.fft_size());
    return elementary::phasor(-2.0 * std::numbers::pi * turns);
}

/// Scores a setting; 0 if none of the slots is in its schedule.
void Search::score(const PilotPairs& pairs, const std::vector<SlotScore>& scores, Setting& setting) const {
    std::complex<double> sum = 0.0;
    double energy = 0.0;
    double squares = 0.0;
    double products = 0.0;
    const std::vector<int>& used = link_.slots;
    for (std::size_t slot = 0; slot < slots_; ++slot) {
        const std::complex<double> phase = phase_of(setting, slot);
        const auto number = (static_cast<std::size_t>(setting.first_slot) + slot) %
                            static_cast<std::size_t>(slots_per_frame_);
        if (!used.empty() && std::find(used.begin(), used.end(), static_cast<int>(number)) == used.end())
            continue;
        for (const int l : patterns_[setting.pattern].symbols) {
            const auto symbol = static_cast<std::size_t>(l);
            sum += phase * scores[number * slots_ + slot].correlation[symbol];
            const double of_symbol = pairs.energy(slot, symbol);
            energy += of_symbol;
            squares += of_symbol * of_symbol;
            products += pairs.squares(slot, symbol);
        }
    }
    setting.coherence = energy > 0.0 ? std::min(std::sqrt(std::norm(sum)) / energy, 1.0) : 0.0;
    // The effective number of symbols: louder ones count more, so all together count as fewer.
    const double symbols = squares > 0.0 ? energy * energy / squares : 0.0;
    // Likewise of pairs. An extra symbol without pilots costs more coherence than it adds pairs.
    const double all = symbols * static_cast<double>(pairs.pairs());
    const double effective = products > 0.0 ? std::min(energy * energy / products, all) : 0.0;
    setting.surprisal = effective * surprisal_of_pair(setting.coherence);
    if (slots_are_equal()) setting.repeats = std::max(symbols, 1.0);
}

/// The first setting is the link's own.
void Search::keep(const Setting& setting) {
    if (tried_++ == 0) {
        own_ = best_ = setting;
    } else if (setting.surprisal > best_.surprisal) {
        best_ = setting;
    }
}

void Search::try_identity(const PilotPairs& pairs, Setting setting) {
    // Pilots in every symbol of a possible pattern, though no allocation has them.
    SlotAllocation allocation = link_.allocation;
    allocation.first_symbol = 0;
    allocation.symbols = symbols_per_slot;
    allocation.dmrs.type = setting.type;
    allocation.dmrs.scrambling_id = setting.scrambling_id;
    allocation.dmrs.n_scid = setting.n_scid;
    allocation.dmrs.length = 1;
    allocation.dmrs.ports = {0};  // all ports have the same pilots, and some need two symbols
    std::vector<int>& symbols = allocation.dmrs.symbols;
    symbols.clear();
    for (std::size_t i = 0; i < patterns_.size(); ++i)
        if (possible_[i])
            symbols.insert(symbols.end(), patterns_[i].symbols.begin(), patterns_[i].symbols.end());
    std::sort(symbols.begin(), symbols.end());
    symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
    std::vector<cf32> pilots(dmrs_pilot_count(allocation));
    const std::size_t of_symbol = pilots.size() / symbols.size();

    const auto numbers = static_cast<std::size_t>(slots_per_frame_);
    std::vector<SlotScore> scores(numbers * slots_);
    for (std::size_t number = 0; number < numbers; ++number) {
        dmrs_pilots(allocation, static_cast<int>(number), pilots);
        for (std::size_t slot = 0; slot < slots_; ++slot)
            for (std::size_t i = 0; i < symbols.size(); ++i) {
                const auto symbol = static_cast<std::size_t>(symbols[i]);
                scores[number * slots_ + slot].correlation[symbol] =
                    pairs.correlation(slot, symbol, std::span(pilots).subspan(i * of_symbol, of_symbol));
            }
    }
    for (int i = 0; i < slots_per_frame_; ++i) {
        // The link's own first, so that it wins among equal settings.
        setting.first_slot = (link_.carrier.first_slot + i) % slots_per_frame_;
        for (setting.pattern = 0; setting.pattern < patterns_.size(); ++setting.pattern)
            if (possible_[setting.pattern]) {
                score(pairs, scores, setting);
                keep(setting);
            }
    }
}

void Search::try_type(int type) {
    Setting setting = {.type = type,
                       .scrambling_id = link_.allocation.dmrs.scrambling_id,
                       .n_scid = link_.allocation.dmrs.n_scid,
                       .first_slot = link_.carrier.first_slot};
    possible_.clear();
    for (setting.pattern = 0; setting.pattern < patterns_.size(); ++setting.pattern)
        possible_.push_back(can_be(link_of(setting)));
    const auto first =
        static_cast<std::size_t>(std::find(possible_.begin(), possible_.end(), true) - possible_.begin());
    if (first == possible_.size()) return;
    const PilotPairs pairs(link_of({.type = type}).allocation, grid_, plan_.antennas);
    const int own = link_.allocation.dmrs.n_scid;
    const std::vector<int> n_scids =
        link_.allocation.dmrs.transform_precoding ? std::vector{own} : with_first(own, 0, 1);
    for (const std::uint32_t identity : identities_) {
        if (!goes_on_()) return;
        setting.scrambling_id = identity;
        for (const int n_scid : n_scids) {
            setting.n_scid = n_scid;
            setting.pattern = first;
            // An identity may be out of range for low-PAPR sequences.
            if (can_be(link_of(setting))) try_identity(pairs, setting);
        }
    }
}

SettingSearch Search::operator()() {
    const DmrsConfig& dmrs = link_.allocation.dmrs;
    const std::vector<int> types =
        dmrs.transform_precoding ? std::vector{dmrs.type} : with_first(dmrs.type, 1, 2);
    for (const int type : types)
        try_type(type);
    SettingSearch result = {.tried = tried_};
    if (tried_ == 0) return result;
    result.own = found_of(own_);
    // If slots have the same pilots, a slightly better one says nothing about slot numbers.
    const bool is_equal = slots_are_equal() && differs_in_slot_alone(best_) &&
                          own_.coherence >= min_coherence(link_.allocation);
    result.best = is_equal ? result.own : found_of(best_);
    return result;
}

}  // namespace

bool can_be(const Link& link) {
    try {
        check(link);
        return true;
    } catch (const ArgumentError&) {
        return false;
    }
}

SettingSearch search_settings(const ReceiverPlan& plan, std::span<const cf32> grid,
                              std::span<const std::uint32_t> identities,
                              const std::function<bool()>& goes_on) {
    return Search(plan, grid, identities, goes_on)();
}

}  // namespace phy::detail
