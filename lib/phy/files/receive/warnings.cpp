#include "phy/files/receive/warnings.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "phy/core/check.hpp"
#include "phy/core/constellation.hpp"
#include "phy/dmrs/dmrs.hpp"
#include "phy/files/common.hpp"
#include "phy/files/receive/acquire.hpp"
#include "phy/numerics/elementary.hpp"
#include "phy/receiver/acquisition/prefix.hpp"

namespace phy::detail {
namespace {

constexpr std::uint64_t examined_slots = 16;

/// Min error_over_noise() of a reception (-1.8 dB), and the max of a slot among others.
constexpr double min_error_over_noise = 0.66;
constexpr double max_error_over_noise_of_slot = 3.46;

/// With fewer resource blocks the modes of the channel leave few pilots to measure noise: N0 may be too small
/// by 5 dB, or too large by 2. Limits are then that much wider. With very few it may be too large by any
/// factor at high SNR.
constexpr int min_measuring_blocks = 12;
constexpr int very_few_blocks = 5;
constexpr double uncertain_noise = 3.7;
constexpr double uncertain_little_noise = 0.6;

/// Min share of transport blocks with a valid CRC that proves a link.
constexpr double proving_share = 0.9;

/// Max difference of the share of outermost levels from that of equally frequent points: a part of it, and
/// standard deviations.
constexpr double max_level_difference = 0.35;
constexpr double level_deviations = 6.0;

/// Max ratio of the SNR that the coherence shows to the measured one. Above sure_snr neighbouring pilots
/// differ by the channel.
constexpr double max_snr_ratio = 8.0;
constexpr double sure_snr = 200.0;

/// Max ratio of an EVM above 100 % to the noise of an antenna. If no antenna is to spare, a few faded
/// elements make it large.
constexpr double max_evm_ratio = 10.0;
constexpr double max_evm_ratio_with_fading = 100.0;

/// Components at the limits of a clipped antenna: min number and min share.
constexpr std::uint64_t min_clipped = 16;
constexpr double min_clipped_share = 2e-4;

/// Offsets are near the edge of what can be measured from these shares on.
constexpr double edge_of_turn = 0.4;

/// Min frequency offset, over the subcarrier spacing, whose correction may lose DM-RS.
constexpr double min_lost_frequency = 0.1;

/// A rotation between DM-RS symbols counts from these numbers on: deviations of the offset from prefixes, and
/// a share of the subcarrier spacing.
constexpr double rotation_deviations = 8.0;
constexpr double min_rotation = 0.01;

/// Max timing offset over a prefix: paths within half a prefix that begin a tenth late and are measured
/// another tenth late.
constexpr double max_lateness = 0.7;

/// Below, noise may look like a late path.
constexpr double sure_coherence = 0.7;

constexpr double full_prefix = 144.0 / 2048.0;

/// A frequency that prefixes alone show may be this many of its deviations off.
constexpr double frequency_deviations = 4.0;

/// Min share of components near 0. A signal of constant amplitude has 0.16, Gaussian samples have 0.6.
constexpr double min_near_zero = 0.1;

int blocks_of(const SlotAllocation& allocation) {
    int count = 0;
    for (const ResourceBlocks& range : allocation.resource_blocks)
        count += range.count;
    return count;
}

std::string of_slots(std::uint64_t some, std::uint64_t all) {
    return "in " + std::to_string(some) + " of " + std::to_string(all) + " slots";
}

/// Adds the warnings.
class Warner {
public:
    Warner(Reception& result, const ReceiverConfig& config, const Examination& examination)
        : result_(result),
          config_(config),
          mean_(result.mean),
          samples_(examination.samples()),
          pilots_(examination.pilots()),
          symbols_(examination.symbols()),
          name_(name_of(result.capture)),
          least_(min_coherence(result.link.allocation)) {}

    void warn_of_link() {
        warn_of_snr();
        warn_of_pilots();
        warn_of_ptrs();
        warn_of_rotation();
        warn_of_levels();
        warn_of_ends();
        warn_of_errors();
    }

    void warn_of_little_errors();

    void warn_of_capture() {
        warn_of_clipping();
        warn_of_format();
        warn_of_line();
        warn_of_image();
        warn_of_edges();
    }

private:
    void warn(const std::string& text) { result_.warnings.push_back(name_ + ": " + text); }

    /// Number of slots with DM-RS for which is_so(report).
    std::uint64_t count(const auto& is_so) const {
        return static_cast<std::uint64_t>(std::ranges::count_if(result_.reports, [&](const SlotReport& slot) {
            return slot.coherence >= least_ && std::isfinite(slot.noise_variance) && is_so(slot);
        }));
    }

    [[nodiscard]] const DmrsConfig& dmrs() const { return result_.link.allocation.dmrs; }
    [[nodiscard]] double spacing() const {
        return static_cast<double>(result_.link.carrier.subcarrier_spacing);
    }
    /// Between neighbouring points.
    [[nodiscard]] double distance() const { return 2.0 * axis_unit(result_.link.modulation); }
    [[nodiscard]] int blocks() const { return blocks_of(result_.link.allocation); }
    [[nodiscard]] bool measures_noise() const { return blocks() >= min_measuring_blocks; }
    [[nodiscard]] bool has_one_time() const {
        return dmrs().symbols.size() <= static_cast<std::size_t>(dmrs().length);
    }
    /// What may be wrong if slots begin elsewhere. A search finds DM-RS elsewhere at a wrong frequency.
    [[nodiscard]] std::string beginning() const {
        return result_.found ? "the frequency offset may exceed three subcarriers"
                             : "carrier.first_sample may be wrong";
    }
    [[nodiscard]] bool is_harmless() const { return !(mean_.evm > harmless_error * distance()); }

    void warn_of_snr();
    void warn_of_pilots();
    void warn_of_ptrs();
    void warn_of_precoded_ptrs(const PtrsConfig& its);
    void warn_of_rotation();
    void warn_of_levels();
    void warn_of_ends();
    void warn_of_errors();
    void warn_of_clipping();
    void warn_of_format();
    void warn_of_line();
    void warn_of_image();
    void warn_of_edges();
    [[nodiscard]] double expected_prefix_deviation() const;
    [[nodiscard]] double rotation_error() const;

    Reception& result_;
    const ReceiverConfig& config_;
    const SlotReport& mean_;
    SampleSigns samples_;
    PilotSigns pilots_;
    SymbolSigns symbols_;
    std::string name_;
    double least_;
};

/// Power of a pilot over its noise, of power in units of that noise: as an SNR and as a coherence.
double pilot_snr_of(double snr, const DmrsConfig& dmrs) {
    std::vector<int> groups;
    for (const int port : dmrs.ports)
        groups.push_back(dmrs_port(dmrs.type, port).cdm_group);
    std::ranges::sort(groups);
    const auto unique = std::unique(groups.begin(), groups.end()) - groups.begin();
    const auto amplitude = static_cast<double>(dmrs_amplitude(dmrs));
    return snr * amplitude * amplitude / static_cast<double>(unique);
}

void Warner::warn_of_snr() {
    const std::string wrong = "allocation.dmrs.ports or layers may be wrong, or " + beginning();
    const std::string causes =
        (config_.noise_variance ? "noise_variance, which was given, may be too large, " : "") + wrong;
    const std::uint64_t without = count([](const SlotReport& slot) { return !std::isfinite(slot.snr_db); });
    if (without > 0)
        warn("no SNR " + of_slots(without, result_.slots) +
             ": neighbouring pilots agree, but have no power at the link's ports: " + causes);
    const double measured = pilot_snr_of(elementary::power_ratio(mean_.snr_db), dmrs());
    const double shown = std::min(mean_.coherence / std::max(1.0 - mean_.coherence, 1e-9), sure_snr);
    if (without < result_.slots && mean_.coherence >= least_ && shown > max_snr_ratio * measured)
        warn("an SNR of " + rounded(mean_.snr_db, 1) + " dB is low for a coherence of " +
             rounded(mean_.coherence, 2) + ": " + causes + ", or other layers use the same DM-RS");
    const bool spares = result_.capture.antennas > static_cast<std::uint64_t>(dmrs().ports.size());
    const double explained = (spares ? max_evm_ratio : max_evm_ratio_with_fading) *
                             std::sqrt(elementary::power_ratio(-mean_.snr_db));
    if (mean_.evm > std::max(1.0, explained))
        warn("an EVM of " + rounded(100.0 * mean_.evm, 0) + " % is above 100 %: " + wrong);
}

void Warner::warn_of_pilots() {
    if (!pilots_.missing.empty())
        warn("pilots agree in some DM-RS symbols, but not in symbols " + list_of(pilots_.missing) +
             ": allocation.dmrs.symbols may be wrong");
    if (!pilots_.unexpected.empty())
        warn("there are DM-RS in symbols " + list_of(pilots_.unexpected) +
             " too, where the link has data: allocation.dmrs.symbols may be wrong");
}

void Warner::warn_of_ptrs() {
    if (pilots_.ptrs.are_missing)
        warn("there are no PT-RS where the link has them: allocation.ptrs or rnti may be wrong");
    if (pilots_.ptrs.precoded) warn_of_precoded_ptrs(*pilots_.ptrs.precoded);
    if (!pilots_.ptrs.found) return;
    const FoundPtrs& its = *pilots_.ptrs.found;
    std::string text = "there are PT-RS on subcarrier " + std::to_string(its.subcarrier) +
                       " of resource blocks " + std::to_string(its.first_block) + ", " +
                       std::to_string(its.first_block + its.frequency_density) + " ..., where the link has ";
    text += !its.port                      ? "none: they may be another user's"
            : result_.link.allocation.ptrs ? "others: allocation.ptrs or rnti may be wrong"
                                           : "data: allocation.ptrs is missing";
    text += "; expected ";
    if (its.time_density) text += "time_density " + std::to_string(*its.time_density) + ", ";
    text += "frequency_density " + std::to_string(its.frequency_density);
    if (its.port)
        text += ", resource_element_offset " + std::to_string(its.resource_element_offset) + " with port " +
                std::to_string(*its.port);
    warn(text);
}

void Warner::warn_of_precoded_ptrs(const PtrsConfig& its) {
    const Link& link = result_.link;
    const auto& expected = link.allocation.ptrs;
    const std::string signs = "n_RNTI modulo " + std::to_string(its.samples_per_group) + " is " +
                              std::to_string(its.rnti) + ": allocation.rnti may be wrong";
    const bool has_other_signs =
        its.rnti != link.scrambling.rnti % static_cast<std::uint32_t>(its.samples_per_group);
    if (has_other_signs && expected && expected->time_density == its.time_density &&
        expected->groups == its.groups && expected->samples_per_group == its.samples_per_group)
        return warn("the PT-RS have signs of another user, whose " + signs);
    warn("there are PT-RS in the samples before transform precoding, where the link has " +
         std::string(expected ? "others: allocation.ptrs may be wrong" : "data: allocation.ptrs is missing") +
         "; expected time_density " + std::to_string(its.time_density) + ", groups " +
         std::to_string(its.groups) + ", samples_per_group " + std::to_string(its.samples_per_group) +
         (has_other_signs ? "; their " + signs : ""));
}

void Warner::warn_of_rotation() {
    if (has_one_time() || result_.corrected.coherence == 0.0) return;
    const double rotation = mean_.frequency_offset - result_.corrected.at_prefixes;
    const double sure = std::max(rotation_deviations * result_.corrected.deviation, min_rotation * spacing());
    if (std::fabs(rotation) > sure)
        warn("DM-RS symbols are rotated by " +
             rounded(360.0 * rotation * (1.0 + full_prefix) / spacing(), 1) +
             " degrees per symbol beyond the frequency offset of the cyclic prefixes: "
             "carrier.center_frequency may be wrong");
}

void Warner::warn_of_levels() {
    double clear = 0.0;
    double outer = 0.0;
    for (std::size_t i = 0; i < result_.reports.size(); ++i) {
        if (!(result_.reports[i].coherence >= least_)) continue;
        clear += result_.symbols[i].clear;
        outer += result_.symbols[i].outer;
    }
    const double expected = 2.0 / static_cast<double>(1U << bits_per_axis(result_.link.modulation));
    const double components = 2.0 * clear;
    if (!(expected < 1.0) || components == 0.0) return;
    const double chance = level_deviations * std::sqrt(expected * (1.0 - expected) / components);
    const double share = outer / components;
    if (std::fabs(share - expected) > max_level_difference * expected + chance)
        warn(rounded(100.0 * share, 1) + " % of the components of symbols lie on the outermost levels of " +
             std::string(to_string(result_.link.modulation)) + ", expected " + rounded(100.0 * expected, 1) +
             " %: allocation.modulation may be wrong");
}

void Warner::warn_of_ends() {
    if (!symbols_.foreign.empty() && measures_noise())
        warn("symbols of resource blocks " + list_of(symbols_.foreign) +
             ", at the ends of the allocation, are not the link's: allocation.resource_blocks may be wrong");
}

void Warner::warn_of_errors() {
    if (is_harmless()) return;
    const double rotation = rotation_error();
    const auto is_above = [&](const SlotReport& slot, double most) {
        return elementary::power_ratio(slot.error_over_noise_db) >
               most + rotation * elementary::power_ratio(slot.snr_db) * config_.antennas;
    };
    const double uncertainty = noise_uncertainty(result_.link.allocation);
    const std::uint64_t bad = count([&](const SlotReport& slot) {
        return slot.clear_symbols >= min_clear_symbols &&
               is_above(slot, uncertainty * max_error_over_noise_of_slot);
    });
    const bool is_mean_bad =
        mean_.clear_symbols >= min_clear_symbols && is_above(mean_, uncertainty * max_error_over_noise);
    if (!is_mean_bad && bad == 0) return;
    warn("symbols are " + rounded(mean_.error_over_noise_db, 1) +
         " dB farther from the points than noise explains" +
         (bad > 0 && bad < result_.slots ? ", most of all " + of_slots(bad, result_.slots) : "") +
         ": carrier.center_frequency, carrier.sample_rate, allocation.modulation, "
         "allocation.resource_blocks, allocation.dmrs (symbols, ports, cdm_groups_without_data, power_db)" +
         (result_.found ? "" : " or carrier.first_sample") +
         " may be wrong, the frequency offset may exceed three subcarriers, or there is interference" +
         (result_.joint_detection ? ". joint_detection off tolerates a wrong power_db better" : ""));
}

void Warner::warn_of_little_errors() {
    const double ratio = elementary::power_ratio(mean_.error_over_noise_db);
    const double uncertainty = measures_noise() ? 1.0 : uncertain_little_noise;
    const double least = min_error_over_noise * uncertainty;
    if (blocks() <= very_few_blocks || is_harmless()) return;
    if (mean_.clear_symbols < min_clear_symbols || !(ratio < least)) return;
    warn("symbols are " + rounded(-mean_.error_over_noise_db, 1) +
         " dB nearer to the points than the noise at " +
         (config_.noise_variance ? "an antenna, which was given, explains: noise_variance may be wrong"
                                 : "the DM-RS explains: other signals may lie on the DM-RS, or "
                                   "allocation.resource_blocks may be wrong"));
}

void Warner::warn_of_clipping() {
    const double share =
        static_cast<double>(samples_.at_limit) / std::max(static_cast<double>(samples_.components), 1.0);
    if (samples_.at_limit >= min_clipped && share >= min_clipped_share)
        warn("samples are clipped: " + std::to_string(samples_.at_limit) + " of " +
             std::to_string(samples_.components) +
             " components that were examined have the largest or smallest value: record with less gain");
}

void Warner::warn_of_format() {
    if (samples_.near_zero < min_near_zero)
        warn("only " + rounded(100.0 * samples_.near_zero, 1) +
             " % of the components of samples are below a quarter of the largest: the number format may be "
             "wrong, such as unsigned for signed integers");
}

void Warner::warn_of_line() {
    const bool is_taken_out =
        std::ranges::any_of(result_.impairments, [](const Impairment& its) { return its.line != cf32(); });
    if (samples_.line > 0.0 && !is_taken_out)
        warn("the samples have a line at frequency 0, " + rounded(elementary::decibels(samples_.line), 1) +
             " dB over the subcarriers there: remove the DC offset of the samples");
}

void Warner::warn_of_image() {
    const double harmless = harmless_error * distance();
    const bool is_taken_out =
        std::ranges::any_of(result_.impairments, [](const Impairment& its) { return its.image != cf32(); });
    if (samples_.image > harmless * harmless && !is_taken_out)
        warn("the spectrum has a mirror image of " + rounded(elementary::decibels(samples_.image), 1) +
             " dB: correct the IQ imbalance of the samples");
}

/// Of the frequency that prefixes show, over the subcarrier spacing, at the noise that the coherence shows.
double Warner::expected_prefix_deviation() const {
    constexpr double half_prefix = 0.5 * full_prefix;
    const double subcarriers = subcarriers_per_resource_block * blocks();
    const auto slots = static_cast<double>(std::min(result_.slots, measured_slots));
    const double numbers =
        std::max(1.0, half_prefix * subcarriers) * config_.antennas * result_.link.allocation.symbols * slots;
    const double coherence = result_.corrected.coherence;
    return std::sqrt((1.0 / (coherence * coherence) - 1.0) / (2.0 * numbers)) / (2.0 * std::numbers::pi);
}

/// With DM-RS at one time only: mean power of the error of symbols, over theirs, that the deviation of the
/// frequency explains. The symbols rotate with their distance from the DM-RS.
double Warner::rotation_error() const {
    const Offsets& corrected = result_.corrected;
    if (config_.input != ReceiverInput::samples || !has_one_time() || corrected.coherence == 0.0) return 0.0;
    const double expected = expected_prefix_deviation();
    const double deviation = std::clamp(corrected.deviation / spacing(), expected, 3.0 * expected);
    const double turn = 2.0 * std::numbers::pi * frequency_deviations * deviation * (1.0 + full_prefix);
    const SlotAllocation& allocation = result_.link.allocation;
    double squares = 0.0;
    for (int i = 0; i < allocation.symbols; ++i) {
        const double distance = allocation.first_symbol + i - dmrs().symbols.front();
        squares += distance * distance;
    }
    return turn * turn * squares / allocation.symbols;
}

void Warner::warn_of_edges() {
    const bool is_samples = config_.input == ReceiverInput::samples;
    // DM-RS that were found, and no longer after this frequency was corrected.
    const Offsets& corrected = result_.corrected;
    if (corrected.coherence == 0.0 && std::fabs(corrected.at_prefixes) > min_lost_frequency * spacing() &&
        std::fabs(corrected.at_prefixes) > rotation_deviations * corrected.deviation)
        warn("cyclic prefixes show a frequency offset of " + rounded(corrected.at_prefixes, 0) +
             " Hz, with which there are no DM-RS: the offset may be whole subcarriers more, and "
             "carrier.frequency_shift may be wrong");
    if (is_samples && corrected.coherence > 0.0 && std::isfinite(corrected.deviation) &&
        corrected.deviation > spacing() * std::max(max_prefix_deviation, 3.0 * expected_prefix_deviation()))
        warn("no cyclic prefixes are where the link says, though DM-RS are: " + beginning() +
             (result_.found ? "" : " by half a symbol") + ", or carrier.sample_rate may be wrong");
    const double left = mean_.frequency_offset - (is_samples ? result_.corrected.frequency : 0.0);
    int gap = symbols_per_slot;
    const auto length = static_cast<std::size_t>(dmrs().length);
    for (std::size_t i = length; i < dmrs().symbols.size(); ++i)
        gap = std::min(gap, dmrs().symbols[i] - dmrs().symbols[i - length]);
    const double turns = left * (1.0 + full_prefix) * gap / spacing();
    if (std::fabs(turns) > edge_of_turn)
        warn("DM-RS symbols are rotated by " + rounded(360.0 * turns, 0) +
             " degrees from one to the next, near the half turn beyond which a frequency offset appears as "
             "another");
    const double prefix = full_prefix / spacing();
    const auto late = static_cast<std::uint64_t>(count([&](const SlotReport& slot) {
        return slot.coherence >= sure_coherence &&
               std::fabs(slot.timing_offset - result_.corrected.timing) > max_lateness * prefix;
    }));
    if (late > 0)
        warn("the timing offset is beyond 0.7 of a cyclic prefix " + of_slots(late, result_.slots) + ": " +
             beginning() + ", or carrier.sample_rate may be wrong");
}

}  // namespace

double noise_uncertainty(const SlotAllocation& allocation) {
    return blocks_of(allocation) >= min_measuring_blocks ? 1.0 : uncertain_noise;
}

bool proves_link(const Reception& result) {
    const auto valid = static_cast<double>(result.valid_transport_blocks);
    return valid > 0.0 && valid >= proving_share * static_cast<double>(result.transport_blocks.size());
}

Examination examine_capture(const Host& host, const ReceiverConfig& config, CaptureSlots& slots) {
    Examination examination(host, config);
    std::vector<std::byte> input(slots.bytes_per_slot());
    const std::uint64_t count = std::min(examined_slots, slots.occasions());
    for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t occasion = i * slots.occasions() / count;
        slots.read(occasion, 1, input);
        const SymbolView of_slot(slots.format(), input);
        if (!slots.signal().is_resampled()) {
            examination.add(of_slot, occasion);
            continue;
        }
        const std::vector<std::byte> recorded = slots.read_recorded(occasion);
        examination.add(of_slot, occasion, SymbolView(slots.signal().description().format, recorded),
                        slots.signal().recorded_rate());
    }
    return examination;
}

void warn_of_signs(Reception& result, const ReceiverConfig& config, const Examination& examination) {
    Warner warner(result, config, examination);
    const bool is_proven = proves_link(result);
    if (!is_proven) warner.warn_of_link();
    if (!is_proven || config.noise_variance) warner.warn_of_little_errors();
    warner.warn_of_capture();
}

}  // namespace phy::detail
