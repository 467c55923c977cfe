#include "phy/files/receive/ambiguity.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdlib>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "phy/dmrs/dmrs.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "phy/files/receive/acquire.hpp"

namespace phy::detail {
namespace {

/// Two f0 are the same within this, in Hz, modulo the rate of symbols: DM-RS at two times correct as much.
constexpr double same_frequency = 1000.0;

/// Mean power of the symbols of a subcarrier with a signal, and without one. Noisy ones do not count.
constexpr double min_power = 0.6;
constexpr double max_power = 0.25;
constexpr float max_noise = 0.1F;
constexpr std::uint64_t min_symbols = 24;

/// Two links that explain a recording alike.
struct Explanations {
    Link by_frequency;  ///< ports of the given link, in a signal that is `subcarriers` too high
    Link by_ports;
    int subcarriers = 0;
};

/// The subcarrier where the pilots of a CDM group begin.
int first_subcarrier(int type, int group) {
    return type == 1 ? group : 2 * group;
}

/// The CDM group of all ports; none: there are several.
std::optional<int> group_of(const DmrsConfig& dmrs) {
    const int group = dmrs_port(dmrs.type, dmrs.ports.front()).cdm_group;
    const bool is_only = std::ranges::all_of(
        dmrs.ports, [&](int port) { return dmrs_port(dmrs.type, port).cdm_group == group; });
    return is_only ? std::optional(group) : std::nullopt;
}

void move_by(LinkCarrier& carrier, int subcarriers) {
    const double hertz = static_cast<double>(subcarriers) * carrier.subcarrier_spacing;
    carrier.frequency_shift -= hertz;
    carrier.center_frequency = *carrier.center_frequency + hertz;
}

bool is_same_frequency(const LinkCarrier& a, const LinkCarrier& b) {
    const double rate = a.subcarrier_spacing / (1.0 + 144.0 / 2048.0);
    return std::fabs(std::remainder(*a.center_frequency - *b.center_frequency, rate)) < same_frequency;
}

/// If ports of another group alone explain the recording.
std::optional<Explanations> from_ports(const Link& given, const Link& best) {
    Link undone = best;
    undone.allocation.dmrs.ports = given.allocation.dmrs.ports;
    undone.allocation.dmrs.cdm_groups_without_data = given.allocation.dmrs.cdm_groups_without_data;
    const auto own = group_of(given.allocation.dmrs);
    const auto other = group_of(best.allocation.dmrs);
    if (undone != given || !own || !other || own == other) return {};
    const int type = given.allocation.dmrs.type;
    Explanations result = {.by_frequency = given, .by_ports = best};
    result.subcarriers = first_subcarrier(type, *other) - first_subcarrier(type, *own);
    move_by(result.by_frequency.carrier, result.subcarriers);
    return result;
}

/// If another f0 alone explains the recording, in a signal that is whole subcarriers off.
std::optional<Explanations> from_frequency(const Link& given, const Link& best, int subcarriers) {
    Link undone = best;
    undone.carrier.center_frequency = given.carrier.center_frequency;
    const DmrsConfig& dmrs = given.allocation.dmrs;
    const auto own = group_of(dmrs);
    if (undone != given || !own || subcarriers == 0) return {};
    Explanations result = {.by_frequency = best, .by_ports = best, .subcarriers = subcarriers};
    move_by(result.by_ports.carrier, -subcarriers);
    if (!is_same_frequency(result.by_ports.carrier, given.carrier)) return {};
    result.by_ports.carrier.center_frequency = given.carrier.center_frequency;
    for (int group = 0; group < (dmrs.type == 1 ? 2 : 3); ++group) {
        if (first_subcarrier(dmrs.type, group) - first_subcarrier(dmrs.type, *own) != subcarriers) continue;
        DmrsConfig& moved = result.by_ports.allocation.dmrs;
        for (int& port : moved.ports)
            port += 2 * (group - *own);
        moved.cdm_groups_without_data = std::max(moved.cdm_groups_without_data, group + 1);
        return result;
    }
    return {};
}

/// Sums of the powers of symbols.
struct Powers {
    double sum = 0.0;
    std::uint64_t count = 0;

    [[nodiscard]] double mean() const { return sum / static_cast<double>(count); }
};

/// False if the lowest or the highest subcarrier of the allocation has no signal. none: not clear.
std::optional<bool> has_signal_at_ends(const Host& host, ReceiverConfig config, CaptureSlots& slots) {
    Link& link = config.link;
    if (link.allocation.dmrs.transform_precoding) return {};
    const Offsets offsets = measured_from(host, config, slots, 0);
    if (offsets.coherence == 0.0) return {};
    link.carrier.frequency_shift -= offsets.frequency;
    Receiver receive(host, config);
    const ResourceMap map(link.allocation);
    int lowest = link.allocation.carrier_resource_blocks;
    int highest = 0;
    for (const ResourceBlocks& range : link.allocation.resource_blocks) {
        lowest = std::min(lowest, range.first);
        highest = std::max(highest, range.first + range.count - 1);
    }
    std::vector<std::byte> input(slots.bytes_per_slot());
    std::vector<cf32> symbols(receive.symbols_per_slot());
    std::vector<float> noise(symbols.size());
    Powers low;
    Powers high;
    const auto layers = static_cast<std::size_t>(link.allocation.layers());
    const auto add = [&](Powers& powers, std::size_t element) {
        for (std::size_t i = element * layers; i < (element + 1) * layers; ++i) {
            if (!(noise[i] < max_noise)) continue;
            powers.sum += std::norm(std::complex<double>(symbols[i]));
            ++powers.count;
        }
    };
    for (std::uint64_t i = 0; i < std::min(measured_slots, slots.occasions()); ++i) {
        slots.read(i, 1, input);
        receive(SymbolView(slots.format(), input), i, {.symbols = symbols, .noise_variance = noise});
        for (int l = 0; l < symbols_per_slot; ++l) {
            const auto entry_of = [&](int block) {
                return map
                    .entries()[static_cast<std::size_t>(l * link.allocation.carrier_resource_blocks + block)];
            };
            const ResourceMap::Entry first = entry_of(lowest);
            const ResourceMap::Entry last = entry_of(highest);
            if ((first.mask & 1U) != 0) add(low, first.first);
            if ((last.mask >> (subcarriers_per_resource_block - 1) & 1U) != 0)
                add(high, last.first + static_cast<std::size_t>(std::popcount(last.mask)) - 1);
        }
    }
    if (std::min(low.count, high.count) < min_symbols) return {};
    const double least = std::min(low.mean(), high.mean());
    if (least < max_power) return false;
    return least > min_power ? std::optional(true) : std::nullopt;
}

std::string text_of_ports(const Link& given, const Link& link) {
    const DmrsConfig& dmrs = link.allocation.dmrs;
    std::string ports;
    for (const int port : dmrs.ports)
        ports += (ports.empty() ? "" : ", ") + std::to_string(port);
    const bool are_same = dmrs.cdm_groups_without_data == given.allocation.dmrs.cdm_groups_without_data;
    return "allocation.dmrs.ports [" + ports + "]" +
           (are_same ? ""
                     : ", allocation.dmrs.cdm_groups_without_data " +
                           std::to_string(dmrs.cdm_groups_without_data));
}

std::string text_of_frequency(const Explanations& both) {
    const int count = std::abs(both.subcarriers);
    return "carrier.center_frequency " +
           std::to_string(std::llround(*both.by_frequency.carrier.center_frequency)) +
           ", with a signal that is " + std::to_string(count) +
           (count == 1 ? " subcarrier" : " subcarriers") + (both.subcarriers > 0 ? " too high" : " too low");
}

}  // namespace

void settle_ports(const Host& host, const ReceiverConfig& given, CaptureSlots& slots, double offset,
                  Diagnosis& diagnosis) {
    Trial& best = diagnosis.best;
    if (given.input != ReceiverInput::samples || !best.is_found() || best.swaps_iq || best.swaps_bytes)
        return;
    const auto subcarriers = static_cast<int>(std::lround(offset / given.link.carrier.subcarrier_spacing));
    const Link& link = diagnosis.given.link;
    std::optional<Explanations> both = from_ports(link, best.link);
    if (!both) both = from_frequency(link, best.link, subcarriers);
    if (!both) return;
    const auto has_signal = [&](const Link& explanation) {
        ReceiverConfig config = given;
        config.link = explanation;
        return has_signal_at_ends(host, config, slots);
    };
    const bool may_be_frequency = has_signal(both->by_frequency).value_or(true);
    const bool may_be_ports = has_signal(both->by_ports).value_or(true);
    const std::string by_ports = text_of_ports(link, both->by_ports);
    const std::string by_frequency = text_of_frequency(*both);
    if (may_be_frequency != may_be_ports) {
        best.change = may_be_ports ? by_ports : by_frequency;
        best.link = may_be_ports ? std::move(both->by_ports) : std::move(both->by_frequency);
        return;
    }
    best.change = by_ports + ", or " + by_frequency + ", which the recording does not tell apart";
}

}  // namespace phy::detail
