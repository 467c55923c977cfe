#include <cmath>
#include <optional>
#include <vector>

#include <fmt/format.h>

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

double bit_error_rate(const Reception& done) {
    return static_cast<double>(done.bit_errors.value()) / static_cast<double>(done.compared_bits);
}

double times_real_time(const Reception& done) {
    return done.signal_seconds / done.seconds;
}

void add_offsets(std::vector<Json::Member>& members, const Reception& done) {
    members.emplace_back("snr_db", done.mean.snr_db);
    members.emplace_back("evm_rms", done.mean.evm);
    members.emplace_back("noise_variance", done.mean.noise_variance);
    members.emplace_back("timing_offset", done.mean.timing_offset);
    members.emplace_back("frequency_offset", done.mean.frequency_offset);
    members.emplace_back("coherence", done.mean.coherence);
    if (done.link.carrier.first_sample && done.samples > 0)
        members.emplace_back("first_sample", *done.link.carrier.first_sample);
    if (done.found) members.emplace_back("correlation", done.found->correlation);
}

}  // namespace

Json json_of(const Reception& done) {
    std::vector<Json::Member> members = {
        {"slots", done.slots},
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
    if (done.bit_errors) {
        members.emplace_back("bit_errors", *done.bit_errors);
        members.emplace_back("bit_error_rate", bit_error_rate(done));
    }
    members.emplace_back("descrambled_c_init", done.link.scrambling.c_init());
    members.emplace_back("stages", busy_json(done.pipeline));
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
    line("seconds", fmt::format("{:.3g}, {:.3g} times real time", done.seconds, times_real_time(done)));
    const std::string in = done.samples > 0
                               ? fmt::format("{:.4g} Msample/s", 1e-6 * rate(samples(done), done))
                               : fmt::format("{:.4g} Msymbol/s", 1e-6 * rate(symbols(done), done));
    line("throughput", fmt::format("{}, {:.4g} Mbit/s", in, 1e-6 * rate(done.soft_bits, done)));
    line("backend", names_of(done.places) + (devices ? ", " + *devices : ""));
    if (done.found)
        line("first sample", fmt::format("{}, found with a correlation of {:.2f}", done.found->first_sample,
                                         done.found->correlation));
    line("SNR",
         fmt::format("{:.1f} dB at an antenna, N0 {:.4g}", done.mean.snr_db, done.mean.noise_variance));
    line("EVM", fmt::format("{:.2f} %", 100.0 * done.mean.evm));
    line("offsets", fmt::format("timing {:.4g} us, frequency {:.4g} Hz", 1e6 * done.mean.timing_offset,
                                done.mean.frequency_offset));
    line("coherence", fmt::format("{:.3f}", done.mean.coherence));
    line("descrambled", fmt::format("c_init {}", done.link.scrambling.c_init()));
    line("erasures", fmt::format("{}", done.mean.erasures));
    line("saturated", fmt::format("{}", done.saturated));
    if (done.bit_errors)
        line("bit errors", fmt::format("{} (rate {:.3g})", *done.bit_errors, bit_error_rate(done)));
    line("busy", busy_text(done.pipeline));
    if (!done.diagnosis.empty()) line("diagnosis", done.diagnosis);
    return result;
}

}  // namespace phy::apps
