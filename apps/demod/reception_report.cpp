#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/places.hpp"
#include "demod/report.hpp"
#include "demod/report_parts.hpp"

namespace phy::apps {
namespace {

double rate(std::uint64_t count, const Reception& done) {
    return static_cast<double>(count) / done.seconds;
}

/// Of all antennas.
std::uint64_t samples(const Reception& done) {
    return done.samples * done.capture.antennas;
}

std::uint64_t symbols(const Reception& done) {
    return done.resource_elements * static_cast<std::uint64_t>(done.link.allocation.layers());
}

/// All slots have the same number of bits.
ErrorRate bit_error_rate(const Reception& done) {
    BitErrorSums sums;
    for (const std::uint64_t errors : done.slot_bit_errors)
        sums = join(sums, bit_error_sums(errors, done.compared_bits / done.slot_bit_errors.size()));
    return error_rate(sums, Independent::bits);
}

double times_real_time(const Reception& done) {
    return done.signal_seconds / done.seconds;
}

/// A value of the worst slot, among those with DM-RS.
struct Worst {
    double value = std::numeric_limits<double>::quiet_NaN();
    std::uint64_t slot = 0;
};

/// sign: 1 if more is worse, else -1.
Worst worst_of(const Reception& done, double SlotReport::*number, double sign) {
    const double least = min_coherence(done.link.allocation);
    Worst worst;
    for (const SlotReport& report : done.reports) {
        const double value = report.*number;
        if (!(report.coherence >= least) || std::isnan(value)) continue;
        if (std::isnan(worst.value) || sign * value > sign * worst.value) worst = {value, report.slot};
    }
    return worst;
}

/// As the end of a line; nothing for one slot.
std::string worst_text(const Reception& done, const Worst& worst, const std::string& value) {
    if (done.reports.size() < 2 || std::isnan(worst.value)) return "";
    return fmt::format("; worst {} in slot {}", value, worst.slot);
}

double degrees(double radians) {
    return 180.0 / std::numbers::pi * radians;
}

Json worst_json(const Reception& done) {
    return Json::object({{"snr_db", worst_of(done, &SlotReport::snr_db, -1.0).value},
                         {"evm_rms", worst_of(done, &SlotReport::evm, 1.0).value},
                         {"error_over_noise_db", worst_of(done, &SlotReport::error_over_noise_db, 1.0).value},
                         {"coherence", worst_of(done, &SlotReport::coherence, -1.0).value}});
}

std::optional<double> ppm(const std::optional<double>& ratio) {
    return ratio ? std::optional(1e6 * *ratio) : std::nullopt;
}

const char* name_of(ClockSource source) {
    switch (source) {
        case ClockSource::none:
            return "none";
        case ClockSource::frequency:
            return "frequency";
        case ClockSource::timing:
            return "timing";
    }
    return "";
}

/// dB, of the antenna with the most; none: nothing was taken out.
std::optional<double> taken_out_db(const Reception& done, cf32 Impairment::*part) {
    float power = 0.0F;
    for (const Impairment& impairment : done.impairments)
        power = std::max(power, std::norm(impairment.*part));
    return power > 0.0F ? std::optional(10.0 * std::log10(static_cast<double>(power))) : std::nullopt;
}

/// dB, per antenna; empty: they are alike.
std::vector<double> gains_db(const Reception& done) {
    std::vector<double> gains;
    for (const Impairment& impairment : done.impairments)
        gains.push_back(20.0 * std::log10(static_cast<double>(impairment.gain)));
    const bool any = std::ranges::any_of(gains, [](double gain) { return gain != 0.0; });
    return any ? gains : std::vector<double>();
}

void add_clock(std::vector<Json::Member>& members, const Reception& done) {
    std::vector<Json> gaps;
    for (const MissingSamples& gap : done.gaps)
        gaps.push_back(Json::object(
            {{"sample", gap.sample}, {"missing_samples", gap.missing}, {"lost_slots", gap.lost_slots}}));
    members.emplace_back("clock_offset_ppm", ppm(done.clock.first));
    members.emplace_back("last_clock_offset_ppm", ppm(done.clock.last));
    members.emplace_back("clock_source", name_of(done.clock.corrected));
    members.emplace_back("gaps", Json::array(gaps));
    members.emplace_back("line_dbfs", taken_out_db(done, &Impairment::line));
    members.emplace_back("image_db", taken_out_db(done, &Impairment::image));
    const std::vector<double> gains = gains_db(done);
    members.emplace_back("antenna_gains_db", Json::array({gains.begin(), gains.end()}));
    members.emplace_back("skipped_samples", Json::array({done.skipped.begin(), done.skipped.end()}));
}

void add_offsets(std::vector<Json::Member>& members, const Reception& done) {
    members.emplace_back("snr_db", done.mean.snr_db);
    members.emplace_back("evm_rms", done.mean.evm);
    members.emplace_back("error_over_noise_db", done.mean.error_over_noise_db);
    members.emplace_back("noise_variance", done.mean.noise_variance);
    members.emplace_back("interference_rejection", done.rejects_interference);
    members.emplace_back("phase_tracking", done.phase_tracking);
    members.emplace_back("phase_error_deg", degrees(done.mean.phase_error));
    members.emplace_back("excess_noise_db", done.mean.excess_noise_db);
    members.emplace_back("joint_detection", done.joint_detection);
    members.emplace_back("timing_offset_s", done.mean.timing_offset);
    members.emplace_back("frequency_offset_hz", done.mean.frequency_offset);
    members.emplace_back("coherence", done.mean.coherence);
    members.emplace_back("worst_slot", worst_json(done));
    if (done.link.carrier.first_sample && done.samples > 0)
        members.emplace_back("first_sample", *done.link.carrier.first_sample);
    if (done.found) members.emplace_back("correlation", done.found->correlation);
    if (done.samples > 0) add_clock(members, done);
}

std::string impairments_text(const Reception& done) {
    std::vector<std::string> parts;
    if (const auto line = taken_out_db(done, &Impairment::line))
        parts.push_back(fmt::format("a line at frequency 0 of {:.1f} dBFS", *line));
    if (const auto image = taken_out_db(done, &Impairment::image))
        parts.push_back(fmt::format("an image of {:.1f} dB", *image));
    if (const auto gains = gains_db(done); !gains.empty())
        parts.push_back(fmt::format("antennas' gains of {:.1f} dB", fmt::join(gains, ", ")));
    return fmt::format("{}", fmt::join(parts, ", "));
}

std::string clock_text(const ClockReport& clock) {
    std::string text = fmt::format("{:+.3f} ppm", *ppm(clock.first));
    if (std::fabs(*clock.last - *clock.first) > 1e-8)
        text += fmt::format(" to {:+.3f} ppm", *ppm(clock.last));
    if (clock.corrected == ClockSource::none) return text + ", not corrected: symbols are no better with it";
    return text + fmt::format(", corrected by the {} of slots", name_of(clock.corrected));
}

double iterations_per_code_block(const Reception& done) {
    std::uint64_t iterations = 0;
    for (const DecodedBlock& block : done.transport_blocks)
        iterations += block.iterations;
    const auto blocks = code_blocks(transport_block_config(done.link)).count * done.transport_blocks.size();
    return static_cast<double>(iterations) / static_cast<double>(blocks);
}

/// Blocks whose CRC holds since they were detected and decoded again.
std::uint64_t valid_after_iterations(const Reception& done) {
    return static_cast<std::uint64_t>(
        std::ranges::count_if(done.transport_blocks,
                              [](const DecodedBlock& block) { return block.crc == 1 && block.repeats > 0; }));
}

void add_transport_blocks(std::vector<Json::Member>& members, const Reception& done) {
    if (done.transport_blocks.empty()) return;
    members.emplace_back("transport_blocks", done.transport_blocks.size());
    members.emplace_back("valid_transport_blocks", done.valid_transport_blocks);
    members.emplace_back("transport_block_bits", transport_block_config(done.link).size);
    members.emplace_back("iterations_per_code_block", iterations_per_code_block(done));
    members.emplace_back("iterations", done.iterations);
    members.emplace_back("valid_after_iterations", valid_after_iterations(done));
}

struct UciNames {
    const char* key;
    const char* text;
    std::size_t LinkUci::*bits;
    std::optional<DecodedWord> SlotUci::*word;
};

constexpr UciNames uci_names[] = {{"ack", "HARQ-ACK", &LinkUci::ack_bits, &SlotUci::ack},
                                  {"csi1", "CSI part 1", &LinkUci::csi1_bits, &SlotUci::csi1},
                                  {"csi2", "CSI part 2", &LinkUci::csi2_bits, &SlotUci::csi2}};

/// Margins of a part in all slots, the least first; empty: it is not decoded.
std::vector<double> margins_of(const Reception& done, const UciNames& part) {
    std::vector<double> margins;
    for (const SlotUci& slot : done.uci)
        if (const auto& word = slot.*part.word) margins.push_back(static_cast<double>(word->margin));
    std::ranges::sort(margins);
    return margins;
}

void add_uci(std::vector<Json::Member>& members, const Reception& done) {
    if (done.uci.empty()) return;
    std::vector<Json::Member> parts;
    for (const UciNames& part : uci_names) {
        const std::size_t bits = (*done.link.coding->uci).*part.bits;
        const std::vector<double> margins = margins_of(done, part);
        if (bits == 0) continue;
        parts.emplace_back(
            part.key,
            Json::object(
                {{"bits", bits},
                 {"min_margin_nats", margins.empty() ? std::nullopt : std::optional(margins.front())},
                 {"median_margin_nats",
                  margins.empty() ? std::nullopt : std::optional(margins[margins.size() / 2])}}));
    }
    members.emplace_back("uci", Json::object(parts));
}

/// The bits of one slot are short enough for a line.
std::string bits_text(const Reception& done, const UciNames& part, std::size_t bits) {
    if (done.uci.size() != 1) return "";
    std::string text = " ";
    for (std::size_t bit = 0; bit < bits; ++bit)
        text += (done.uci.front().*part.word)->bits.at(bit) != 0 ? '1' : '0';
    return text;
}

std::string uci_text(const Reception& done) {
    std::vector<std::string> parts;
    for (const UciNames& part : uci_names) {
        const std::size_t bits = (*done.link.coding->uci).*part.bits;
        const std::vector<double> margins = margins_of(done, part);
        if (bits == 0) continue;
        parts.push_back(margins.empty()
                            ? fmt::format("{} of {} bits not decoded (polar code)", part.text, bits)
                            : fmt::format("{} of {} {}{} with a margin of {:.1f} nats or more", part.text,
                                          bits, bits == 1 ? "bit" : "bits", bits_text(done, part, bits),
                                          margins.front()));
    }
    return fmt::format("{}; no CRC proves it", fmt::join(parts, ", "));
}

std::string receiver_text(const Reception& done) {
    const auto text = [](bool is_on) { return is_on ? "on" : "off"; };
    std::string result = fmt::format("interference rejection {}, phase tracking {}",
                                     text(done.rejects_interference), text(done.phase_tracking));
    if (done.link.allocation.layers() == 2)
        result += fmt::format(", joint detection {}", text(done.joint_detection));
    return result;
}

/// Empty if transmitted bits are the proof, or decoding was not wanted.
std::string transport_blocks_text(const Reception& done) {
    if (!done.transport_blocks.empty())
        return fmt::format("{} of {} transport blocks have a valid CRC{}, {:.1f} iterations per code block",
                           done.valid_transport_blocks, done.transport_blocks.size(),
                           done.iterations > 0
                               ? fmt::format(", {} of them after iterations", valid_after_iterations(done))
                               : "",
                           iterations_per_code_block(done));
    if (done.link.coding || done.bit_errors) return "";
    return "no transport blocks, so nothing proves the soft bits: the link needs coding.code_rate or "
           "allocation.mcs_index";
}

/// How good the slots are: means, and the worst slots.
void add_quality(std::string& report, const Reception& done) {
    const auto line = [&](const char* name, double SlotReport::*number, double sign, const auto& text) {
        const Worst worst = worst_of(done, number, sign);
        add_line(report, name, text(done.mean.*number) + worst_text(done, worst, text(worst.value)));
    };
    const auto decibels = [](double value) { return fmt::format("{:.1f} dB", value); };
    line("SNR", &SlotReport::snr_db, -1.0, decibels);
    line("EVM", &SlotReport::evm, 1.0, [](double value) { return fmt::format("{:.2f} %", 100.0 * value); });
    if (done.mean.clear_symbols == 0)
        add_line(report, "error over N0", "not measured: N0 is too high for this modulation");
    else
        line("error over N0", &SlotReport::error_over_noise_db, 1.0, decibels);
    line("coherence", &SlotReport::coherence, -1.0,
         [](double value) { return fmt::format("{:.3f}", value); });
    if (done.mean.phase_error > 0.0)
        line("phase error", &SlotReport::phase_error, 1.0,
             [](double value) { return fmt::format("{:.2f} degrees", degrees(value)); });
    if (done.mean.excess_noise_db > 0.0) line("excess noise", &SlotReport::excess_noise_db, 1.0, decibels);
    add_line(report, "N0", fmt::format("{:.4g} at an antenna", done.mean.noise_variance));
}

}  // namespace

Json json_of(const Reception& done) {
    std::vector<Json::Member> members = {
        {"slots", done.slots},
        {"range_first", done.range.first},
        {"resource_elements", done.resource_elements},
        {"symbols", symbols(done)},
        {"soft_bits", done.soft_bits},
        {"seconds", done.seconds},
        {"symbols_per_second", rate(symbols(done), done)},
        {"soft_bits_per_second", rate(done.soft_bits, done)},
        {"times_real_time", times_real_time(done)},
        {"backend", names_of(done.places)},
        {"device", devices_of(done.places)},
        {"modulation", to_string(done.link.modulation)},
        {"llr", to_string(done.format)},
        {"llr_scale", scale_json(done.format, done.llr)},
        {"layers", static_cast<std::uint64_t>(done.link.allocation.layers())},
        {"antennas", done.capture.antennas},
    };
    if (done.samples > 0) {
        members.emplace_back("samples", samples(done));
        members.emplace_back("samples_per_second", rate(samples(done), done));
    }
    add_offsets(members, done);
    members.emplace_back("erasures", done.mean.erasures);
    members.emplace_back("saturated", done.saturated);
    if (done.bit_errors) add_bit_errors(members, *done.bit_errors, done.compared_bits, bit_error_rate(done));
    add_transport_blocks(members, done);
    add_uci(members, done);
    members.emplace_back("descrambled_c_init", done.link.scrambling.c_init());
    members.emplace_back("busy_seconds", busy_json(done.pipeline));
    if (!done.diagnosis.empty()) members.emplace_back("diagnosis", done.diagnosis);
    members.emplace_back("warnings", json_of(done.warnings));
    return Json::object(members);
}

std::string text_of(const Reception& done) {
    std::string result;
    const auto line = [&result](const char* name, const std::string& value) {
        add_line(result, name, value);
    };
    const std::optional<std::string> devices = devices_of(done.places);
    const int layers = done.link.allocation.layers();
    line("slots", fmt::format("{} of {} resource elements ({}, {} {}, {} {})", done.slots,
                              done.resource_elements / done.slots, to_string(done.link.modulation), layers,
                              layers == 1 ? "layer" : "layers", done.capture.antennas,
                              done.capture.antennas == 1 ? "antenna" : "antennas"));
    line("soft bits", fmt::format("{}", done.soft_bits));
    line("seconds", fmt::format("{:.3g} s, {:.3g} times real time ({})", done.seconds, times_real_time(done),
                                times_real_time(done) >= 1.0 ? "faster" : "slower"));
    const std::string in = done.samples > 0
                               ? fmt::format("{:.4g} Msample/s", 1e-6 * rate(samples(done), done))
                               : fmt::format("{:.4g} Msymbol/s", 1e-6 * rate(symbols(done), done));
    line("throughput", fmt::format("{}, {:.4g} Mbit/s", in, 1e-6 * rate(done.soft_bits, done)));
    line("backend", names_of(done.places) + (devices ? ", " + *devices : ""));
    if (done.found)
        line("first sample", fmt::format("{}, found with a correlation of {:.2f}", done.found->first_sample,
                                         done.found->correlation));
    add_quality(result, done);
    line("offsets", fmt::format("timing {:.4g} us, frequency {:.4g} Hz", 1e6 * done.mean.timing_offset,
                                done.mean.frequency_offset));
    if (done.clock.first) line("clock", clock_text(done.clock));
    if (!done.impairments.empty()) line("taken out", impairments_text(done));
    if (!done.skipped.empty())
        line("skipped", fmt::format("{} samples, to align the files", fmt::join(done.skipped, ", ")));
    line("receiver", receiver_text(done));
    line("descrambled", fmt::format("c_init {}", done.link.scrambling.c_init()));
    line("erasures", fmt::format("{} of {} symbols", done.mean.erasures, symbols(done)));
    line("saturated", saturation_text(done.saturated, done.soft_bits, done.format, done.llr));
    if (done.bit_errors) line("bit errors", bit_error_text(*done.bit_errors, bit_error_rate(done)));
    if (const std::string text = transport_blocks_text(done); !text.empty()) line("decoded", text);
    if (!done.uci.empty()) line("UCI", uci_text(done));
    line("busy", busy_text(done.pipeline));
    if (!done.diagnosis.empty()) line("diagnosis", done.diagnosis);
    return result;
}

}  // namespace phy::apps
