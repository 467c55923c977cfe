#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/error.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/ofdm/demodulator.hpp"
#include "phy/receiver/acquisition/acquisition.hpp"
#include "phy/receiver/acquisition/frame_timing.hpp"
#include "phy/receiver/acquisition/prefix.hpp"
#include "phy/receiver/acquisition/setting_search.hpp"
#include "phy/receiver/acquisition/symbol_search.hpp"

namespace phy {
namespace {

constexpr double max_chance = 1e-6;
constexpr std::uint64_t max_slots = 20;
/// Whole subcarriers of frequency offset to either side.
constexpr int max_subcarriers = 6;

/// Noise of symbols over the expected one, and EVM, of links that fit.
constexpr double max_excess = 2.5;
constexpr double negligible_evm = 0.03;
constexpr double max_evm = 10.0;
/// From this EVM on, slots may begin elsewhere; there it is at most that share.
constexpr double doubtful_evm = 0.3;
constexpr double clear_share_of_evm = 0.7;

std::string text_of(const std::vector<int>& numbers) {
    std::string text;
    for (const int number : numbers)
        text += (text.empty() ? "" : ", ") + std::to_string(number);
    return "[" + text + "]";
}

/// What a trial changes of the link and of the samples.
std::string change_of(const Link& from, const Trial& to, const DiagnoseOptions& options) {
    std::string text;
    const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
    const auto compare = [&](const char* key, const auto& old, const auto& now, const auto& print) {
        if (now != old) add(std::string(key) + " " + print(now));
    };
    const auto whole = [](auto value) { return std::to_string(value); };
    const auto hertz = [](const auto& value) {
        return std::to_string(std::llround(std::optional<double>(value).value_or(0.0)));
    };
    if (to.swaps_iq) add("I and Q of the samples swapped");
    if (to.swaps_bytes) add("the bytes of each number swapped");
    const LinkCarrier& carrier = to.link.carrier;
    compare("carrier.first_sample", from.carrier.first_sample, carrier.first_sample, [&](const auto& value) {
        return std::to_string(options.recorded ? options.recorded(*value) : *value);
    });
    compare("carrier.first_slot", from.carrier.first_slot, carrier.first_slot, whole);
    compare("carrier.frequency_shift", from.carrier.frequency_shift, carrier.frequency_shift, hertz);
    const double subcarriers =
        (carrier.frequency_shift - from.carrier.frequency_shift) / carrier.subcarrier_spacing;
    if (std::fabs(subcarriers) == 6.0)
        text += " (or carrier.resource_blocks is wrong by one, which shifts by half a resource block)";
    compare("carrier.center_frequency", from.carrier.center_frequency, carrier.center_frequency, hertz);
    compare("allocation.modulation", from.modulation, to.link.modulation,
            [](Modulation value) { return std::string(to_string(value)); });
    const DmrsConfig& old = from.allocation.dmrs;
    const DmrsConfig& dmrs = to.link.allocation.dmrs;
    compare("allocation.layers", old.ports.size(), dmrs.ports.size(), whole);
    compare("allocation.dmrs.type", old.type, dmrs.type, whole);
    compare("allocation.dmrs.length", old.length, dmrs.length, whole);
    compare("allocation.dmrs.symbols", old.symbols, dmrs.symbols, text_of);
    compare("allocation.dmrs.scrambling_id", old.scrambling_id, dmrs.scrambling_id, whole);
    compare("allocation.dmrs.n_scid", old.n_scid, dmrs.n_scid, whole);
    compare("allocation.dmrs.ports", old.ports, dmrs.ports, text_of);
    compare("allocation.dmrs.cdm_groups_without_data", old.cdm_groups_without_data,
            dmrs.cdm_groups_without_data, whole);
    compare("allocation.dmrs.power_db", old.power_db, dmrs.power_db,
            [](const auto& value) { return detail::number_text(*value); });
    return text;
}

/// A hypothesis on the input or the link, beside the DM-RS settings that are tried with each.
struct View {
    Link link;
    bool swaps_iq = false;
    bool swaps_bytes = false;
    bool begins_anywhere = false;
    std::vector<std::uint32_t> identities = {};
};

/// The input as it would be.
std::vector<std::byte> changed(SymbolView input, const View& view) {
    const auto bytes = input.bytes();
    std::vector<std::byte> result(bytes.begin(), bytes.end());
    const std::size_t element = size_of(input.format());
    for (std::size_t at = 0; at < result.size(); at += element) {
        const auto first = result.begin() + static_cast<std::ptrdiff_t>(at);
        const auto middle = first + static_cast<std::ptrdiff_t>(element / 2);
        const auto last = first + static_cast<std::ptrdiff_t>(element);
        if (view.swaps_iq) std::swap_ranges(first, middle, middle);
        if (!view.swaps_bytes) continue;
        std::reverse(first, middle);
        std::reverse(middle, last);
    }
    return result;
}

/// Neighbouring slots of the input, cut as a receiver takes them.
struct Cut {
    ReceiverConfig config = {};
    std::vector<std::byte> bytes = {};  ///< (slots, antennas, input per slot)
    std::size_t slots = 0;
};

/// A view, and the best settings with it.
struct Candidate {
    View view;
    detail::FoundSetting setting;
};

class Diagnoser {
public:
    Diagnoser(const Host& host, const ReceiverConfig& config, SymbolView input,
              const DiagnoseOptions& options);

    Diagnosis operator()();

private:
    [[nodiscard]] std::vector<View> views() const;
    void try_view(const View& view);
    [[nodiscard]] std::vector<Link> links_of(const View& view, SymbolView input) const;
    [[nodiscard]] Link with_given_slot(const Link& link) const;
    [[nodiscard]] Cut cut(SymbolView input, const Link& link) const;
    [[nodiscard]] std::vector<cf32> grid_of(const Cut& of) const;
    [[nodiscard]] Trial trial_of(const Candidate& candidate) const;
    Trial decided(const Candidate& candidate, Diagnosis& diagnosis);
    void try_other_beginnings(Diagnosis& diagnosis);
    [[nodiscard]] bool is_grid() const { return config_.input == ReceiverInput::grid; }
    bool goes_on();

    Host host_;
    ReceiverConfig config_;
    const Link& link_;
    SymbolView input_;
    const DiagnoseOptions& options_;
    std::size_t antennas_;
    std::size_t tried_ = 0;
    std::uint64_t steps_ = 0;
    std::uint64_t most_steps_ = 0;
    std::optional<Candidate> given_;
    std::optional<Candidate> best_;
};

Diagnoser::Diagnoser(const Host& host, const ReceiverConfig& config, SymbolView input,
                     const DiagnoseOptions& options)
    : host_(host),
      config_(detail::ReceiverPlan(config).config),
      link_(config_.link),
      input_(input),
      options_(options),
      antennas_(static_cast<std::size_t>(config.antennas)) {
    const detail::ReceiverPlan plan(config);
    const std::size_t unit = is_grid() ? antennas_ * plan.input : antennas_;
    if (input.size() == 0 || input.size() % unit != 0)
        throw ArgumentError("input has " + std::to_string(input.size()) +
                            " elements: expected a multiple of " + std::to_string(unit) +
                            (is_grid() ? ", the elements of a slot" : ", the antennas"));
    if (is_grid() || !link_.carrier.first_sample) return;
    if (cut(input_, link_).slots == 0)
        throw ArgumentError("input has " + std::to_string(input.size() / antennas_) +
                            " samples per antenna: expected a slot from first_sample on");
}

bool Diagnoser::goes_on() {
    if (options_.stop.stop_requested()) return false;
    if (options_.progress) options_.progress(std::min(steps_, most_steps_), most_steps_);
    ++steps_;
    return true;
}

/// One change each, the cheap and likely ones first.
std::vector<View> Diagnoser::views() const {
    View given = {.link = link_, .identities = {link_.allocation.dmrs.scrambling_id}};
    const auto add_identity = [](std::vector<std::uint32_t>& to, std::uint32_t identity) {
        if (std::find(to.begin(), to.end(), identity) == to.end()) to.push_back(identity);
    };
    if (link_.carrier.cell_id)
        add_identity(given.identities, static_cast<std::uint32_t>(*link_.carrier.cell_id));
    given.begins_anywhere = !is_grid() && !link_.carrier.first_sample;
    std::vector<View> views = {given};
    const auto add = [&](const auto& change) {
        View view = given;
        change(view);
        if (detail::can_be(view.link)) views.push_back(std::move(view));
    };
    add([](View& view) { view.swaps_iq = true; });
    const DmrsConfig& dmrs = link_.allocation.dmrs;
    for (int group = 0; group < (dmrs.type == 1 ? 2 : 3); ++group) {
        const bool is_used = std::any_of(dmrs.ports.begin(), dmrs.ports.end(), [&](int port) {
            return dmrs_port(dmrs.type, port).cdm_group == group;
        });
        if (is_used) continue;
        add([&](View& view) {
            DmrsConfig& other = view.link.allocation.dmrs;
            other.ports = {2 * group};
            other.cdm_groups_without_data = std::max(other.cdm_groups_without_data, group + 1);
        });
    }
    if (size_of(input_.format()) > 2 && !options_.recorded) add([](View& view) { view.swaps_bytes = true; });
    if (!is_grid()) {
        const double shift = link_.carrier.frequency_shift;
        if (shift != 0.0) add([&](View& view) { view.link.carrier.frequency_shift = -shift; });
        for (int i = 1; i <= max_subcarriers; ++i)
            for (const int sign : {1, -1})
                add([&](View& view) {
                    view.link.carrier.frequency_shift += sign * i * link_.carrier.subcarrier_spacing;
                });
    }
    if (!is_grid() && !given.begins_anywhere) add([](View& view) { view.begins_anywhere = true; });
    std::vector<std::uint32_t> listed;
    for (const std::uint32_t identity : options_.scrambling_ids)
        if (std::find(given.identities.begin(), given.identities.end(), identity) == given.identities.end())
            add_identity(listed, identity);
    if (!listed.empty()) add([&](View& view) { view.identities = std::move(listed); });
    return views;
}

/// The link with each beginning to try.
std::vector<Link> Diagnoser::links_of(const View& view, SymbolView input) const {
    if (!view.begins_anywhere) return {view.link};
    const OfdmTiming timing(ofdm_config(view.link, config_.antennas));
    std::vector<Link> links;
    for (const std::size_t position : detail::slot_beginnings(
             timing, {.all = input, .antennas = antennas_, .length = input.size() / antennas_})) {
        links.push_back(view.link);
        links.back().carrier.first_sample = options_.begin + position;
        links.back().carrier.first_slot = 0;
    }
    return links;
}

/// The same timing, from the given first slot on if the input has it: the occurrence nearest to the given
/// first sample.
Link Diagnoser::with_given_slot(const Link& link) const {
    const OfdmTiming timing(ofdm_config(link, config_.antennas));
    const auto frame = static_cast<std::int64_t>(timing.slot_start(timing.slots_per_frame()));
    const auto start = [&](int slot) {
        return static_cast<std::int64_t>(timing.slot_start(static_cast<std::uint64_t>(slot)));
    };
    const auto begin = static_cast<std::int64_t>(options_.begin);
    const auto length = static_cast<std::int64_t>(input_.size() / antennas_);
    const auto wanted = static_cast<std::int64_t>(link_.carrier.first_sample.value_or(options_.begin));
    const std::int64_t first = static_cast<std::int64_t>(*link.carrier.first_sample) +
                               start(link_.carrier.first_slot) - start(link.carrier.first_slot);
    std::optional<std::int64_t> nearest;
    for (std::int64_t at = first - frame; at <= first + 2 * frame; at += frame) {
        const bool is_whole =
            at >= begin && at + static_cast<std::int64_t>(timing.slot_samples(
                                    static_cast<std::uint64_t>(link_.carrier.first_slot))) <=
                               begin + length;
        if (is_whole && (!nearest || std::llabs(at - wanted) < std::llabs(*nearest - wanted))) nearest = at;
    }
    if (!nearest) return link;
    Link result = link;
    result.carrier.first_sample = static_cast<std::uint64_t>(*nearest);
    result.carrier.first_slot = link_.carrier.first_slot;
    return result;
}

Cut Diagnoser::cut(SymbolView input, const Link& link) const {
    Cut result = {.config = config_};
    result.config.link = link;
    const detail::ReceiverPlan plan(result.config);
    const std::size_t element = size_of(input.format());
    const std::size_t of_slot = antennas_ * plan.input;
    if (is_grid()) {
        result.slots = std::min<std::size_t>(input.size() / of_slot, max_slots);
        const auto bytes = input.bytes().first(result.slots * of_slot * element);
        result.bytes.assign(bytes.begin(), bytes.end());
        return result;
    }
    const OfdmTiming timing(plan.demodulator->ofdm);
    const auto first = static_cast<std::uint64_t>(link.carrier.first_slot);
    const std::uint64_t length = input.size() / antennas_;
    const std::uint64_t begin = *link.carrier.first_sample - options_.begin;
    for (; result.slots < max_slots; ++result.slots) {
        const std::uint64_t slot = first + result.slots;
        const std::uint64_t at = begin + timing.slot_start(slot) - timing.slot_start(first);
        const std::size_t samples = timing.slot_samples(slot);
        if (at > length || samples > length - at) break;
        result.bytes.resize((result.slots + 1) * of_slot * element);
        for (std::size_t antenna = 0; antenna < antennas_; ++antenna)
            std::memcpy(result.bytes.data() + (result.slots * antennas_ + antenna) * plan.input * element,
                        input.data() + (antenna * length + at) * element, samples * element);
    }
    return result;
}

/// Without the frequency offset that cyclic prefixes show.
std::vector<cf32> Diagnoser::grid_of(const Cut& of) const {
    const detail::ReceiverPlan plan(of.config);
    const SymbolView input(input_.format(), of.bytes);
    std::vector<cf32> grid(of.slots * plan.grid);
    if (!plan.demodulator) {
        std::vector<float> re(grid.size());
        std::vector<float> im(grid.size());
        detail::read_samples(input, re.data(), im.data());
        for (std::size_t i = 0; i < grid.size(); ++i)
            grid[i] = {re[i], im[i]};
        return grid;
    }
    const std::size_t of_slot = antennas_ * plan.input;
    const auto first = static_cast<std::uint64_t>(of.config.link.carrier.first_slot);
    detail::PrefixCorrelator correlate(plan);
    std::vector<std::complex<double>> terms;
    for (std::size_t i = 0; i < of.slots; ++i)
        correlate(input.subspan(i * of_slot, of_slot), first + i, 0, terms);
    OfdmDemodulatorConfig config = *plan.demodulator;
    const detail::PrefixFrequency offset =
        detail::frequency_of(std::move(terms), config.ofdm.subcarrier_spacing);
    if (offset.is_certain()) config.ofdm.frequency_shift -= offset.hertz;
    OfdmDemodulator demodulate(host_, config);
    for (std::size_t i = 0; i < of.slots; ++i)
        demodulate(input.subspan(i * of_slot, of_slot),
                   {.first = first + i, .count = 1, .stride = plan.input},
                   std::span(grid).subspan(i * plan.grid, plan.grid));
    return grid;
}

Trial Diagnoser::trial_of(const Candidate& candidate) const {
    const detail::FoundSetting& setting = candidate.setting;
    const double chance = detail::elementary::exp(-setting.surprisal / setting.repeats);
    return {.link = setting.link,
            .swaps_iq = candidate.view.swaps_iq,
            .swaps_bytes = candidate.view.swaps_bytes,
            .coherence = setting.coherence,
            .chance = std::min(static_cast<double>(tried_) * chance, 1.0)};
}

/// Keeps the best settings so far. Ends early if they are found.
void Diagnoser::try_view(const View& view) {
    const bool is_changed = view.swaps_iq || view.swaps_bytes;
    const std::vector<std::byte> bytes = is_changed ? changed(input_, view) : std::vector<std::byte>();
    const SymbolView input = is_changed ? SymbolView(input_.format(), bytes) : input_;
    for (const Link& link : links_of(view, input)) {
        const Cut slots = cut(input, link);
        if (slots.slots == 0) continue;
        const detail::SettingSearch found =
            detail::search_settings(detail::ReceiverPlan(slots.config), grid_of(slots), view.identities,
                                    [this] { return goes_on(); });
        if (found.tried == 0) continue;
        tried_ += found.tried;
        if (!given_) given_ = Candidate{view, found.own};
        if (best_ && found.best.surprisal <= best_->setting.surprisal) continue;
        best_ = Candidate{view, found.best};
        if (trial_of(*best_).is_found()) return;
    }
}

/// Decides on what DM-RS leave open.
Trial Diagnoser::decided(const Candidate& candidate, Diagnosis& diagnosis) {
    Trial trial = trial_of(candidate);
    const bool is_changed = trial.swaps_iq || trial.swaps_bytes;
    const std::vector<std::byte> bytes =
        is_changed ? changed(input_, candidate.view) : std::vector<std::byte>();
    if (candidate.view.begins_anywhere) trial.link = with_given_slot(trial.link);
    const Cut slots = cut(is_changed ? SymbolView(input_.format(), bytes) : input_, trial.link);
    const SlotSchedule schedule(trial.link);
    const std::uint64_t occasions = schedule.occasions(slots.slots);
    if (occasions == 0) return trial;
    const std::vector<cf32> grid = grid_of(slots);
    const std::size_t of_slot = grid.size() / slots.slots;
    detail::SlotGrids grids = {.config = slots.config};
    if (!is_grid()) grids.timing.emplace(ofdm_config(trial.link, config_.antennas));
    for (std::uint64_t i = 0; i < occasions; ++i) {
        const std::uint64_t slot = schedule.slot(i) - schedule.first_slot();
        const auto begin = grid.begin() + static_cast<std::ptrdiff_t>(slot * of_slot);
        grids.grid.insert(grids.grid.end(), begin, begin + static_cast<std::ptrdiff_t>(of_slot));
        grids.occasions.push_back(i);
    }
    detail::SymbolSearch found =
        detail::search_by_symbols(host_, grids, options_.center_frequencies, [this] { return goes_on(); });
    trial.link = std::move(found.link);
    if (candidate.view.begins_anywhere) {
        const auto late = std::llround(found.timing_offset * *trial.link.carrier.sample_rate);
        const auto first = static_cast<long long>(*trial.link.carrier.first_sample) + late;
        trial.link.carrier.first_sample = static_cast<std::uint64_t>(std::max(first, 0LL));
    }
    trial.excess = found.excess;
    trial.evm = found.evm;
    tried_ += found.tried;
    diagnosis.agreeing = std::move(found.agreeing);
    diagnosis.undecided = std::move(found.undecided);
    return trial;
}

/// DM-RS that are late by part of a symbol are found too.
void Diagnoser::try_other_beginnings(Diagnosis& diagnosis) {
    if (is_grid() || best_->view.begins_anywhere) return;
    View view = best_->view;
    view.link = best_->setting.link;
    view.begins_anywhere = true;
    view.identities = {view.link.allocation.dmrs.scrambling_id};
    best_.reset();
    try_view(view);
    if (!best_ || !trial_of(*best_).is_found()) return;
    Diagnosis other;
    other.best = decided(*best_, other);
    if (other.best.fits() && other.best.evm < clear_share_of_evm * diagnosis.best.evm)
        diagnosis = std::move(other);
}

Diagnosis Diagnoser::operator()() {
    Diagnosis diagnosis;
    const std::vector<View> all = views();
    most_steps_ = 100;  // of symbols
    for (const View& view : all)
        most_steps_ += 2 * view.identities.size() * (view.begins_anywhere ? 14 : 1);
    for (const View& view : all) {
        if (options_.stop.stop_requested()) break;
        try_view(view);
        if (best_ && trial_of(*best_).is_found()) break;
    }
    if (best_) {
        diagnosis.best = trial_of(*best_);
        if (diagnosis.best.is_found()) diagnosis.best = decided(*best_, diagnosis);
        if (diagnosis.best.is_found() && (!diagnosis.best.fits() || diagnosis.best.evm > doubtful_evm))
            try_other_beginnings(diagnosis);
        diagnosis.best.change = change_of(link_, diagnosis.best, options_);
        if (given_) diagnosis.given = trial_of(*given_);
    }
    diagnosis.tried = tried_;
    diagnosis.cancelled = options_.stop.stop_requested();
    return diagnosis;
}

}  // namespace

bool Trial::is_found() const {
    return coherence >= min_coherence(link.allocation) && chance <= max_chance;
}

bool Trial::fits() const {
    return is_found() && evm <= max_evm && (excess <= max_excess || evm <= negligible_evm);
}

Diagnosis diagnose(const Host& host, const ReceiverConfig& config, SymbolView input,
                   const DiagnoseOptions& options) {
    return Diagnoser(host, config, input, options)();
}

}  // namespace phy
