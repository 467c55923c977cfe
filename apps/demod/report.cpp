#include "demod/report.hpp"

#include <optional>
#include <vector>

#include <fmt/format.h>

#include "common/places.hpp"
#include "demod/report_parts.hpp"

namespace phy::apps {
namespace {

double rate(std::uint64_t count, const Demodulation& done) {
    return static_cast<double>(count) / done.seconds;
}

/// c_init of the descrambling; none without descrambling.
std::optional<std::uint32_t> c_init_of(const Demodulation& done) {
    if (!done.descrambled) return std::nullopt;
    return done.descrambled->c_init();
}

}  // namespace

Json json_of(const Demodulation& done) {
    std::vector<Json::Member> members = {
        {"symbols", done.symbols},
        {"range_first", done.range.first},
        {"soft_bits", done.soft_bits},
        {"seconds", done.seconds},
        {"symbols_per_second", rate(done.symbols, done)},
        {"soft_bits_per_second", rate(done.soft_bits, done)},
        {"backend", names_of(done.places)},
        {"device", devices_of(done.places)},
        {"modulation", to_string(done.demapper.modulation)},
        {"llr", to_string(done.format)},
        {"llr_scale", scale_json(done.format, done.demapper.llr)},
        {"divided_by", done.gain},
        {"noise_variance", done.noise_variance ? Json(*done.noise_variance) : Json("per_symbol")},
        {"checked_symbols", done.check.symbols},
        {"mean_power", done.check.mean_power},
        {"evm_rms", done.check.evm},
        {"expected_evm_rms", done.check.expected_evm},
        {"erasures", done.counters.erasures},
        {"saturated", done.counters.saturated},
    };
    if (done.bit_errors)
        add_bit_errors(members, *done.bit_errors, done.compared_bits,
                       error_rate(*done.bit_errors, done.compared_bits));
    if (const std::optional<std::uint32_t> c_init = c_init_of(done))
        members.emplace_back("descrambled_c_init", *c_init);
    if (done.measured) members.emplace_back("measure_seconds", done.measured->seconds);
    members.emplace_back("busy_seconds", busy_json(done.pipeline));
    members.emplace_back("warnings", json_of(done.warnings));
    return Json::object(members);
}

std::string text_of(const Demodulation& done) {
    std::string result;
    const auto line = [&result](const char* name, const std::string& value) {
        add_line(result, name, value);
    };
    const std::optional<std::string> devices = devices_of(done.places);
    line("symbols", fmt::format("{} ({})", done.symbols, to_string(done.demapper.modulation)));
    line("soft bits", fmt::format("{}", done.soft_bits));
    line("seconds", fmt::format("{:.3g} s", done.seconds));
    line("throughput", fmt::format("{:.4g} Msymbol/s, {:.4g} Mbit/s", 1e-6 * rate(done.symbols, done),
                                   1e-6 * rate(done.soft_bits, done)));
    line("backend", names_of(done.places) + (devices ? ", " + *devices : ""));
    if (done.measured || done.gain != 1.0F) line("gain", fmt::format("{}", done.gain));
    line("N0", done.noise_variance ? fmt::format("{}", *done.noise_variance) : "one per symbol");
    if (const std::optional<std::uint32_t> c_init = c_init_of(done))
        line("descrambled", fmt::format("c_init {}", *c_init));
    if (done.check.symbols > 0) {
        line("mean power", fmt::format("{:.4g}, of {} symbols", done.check.mean_power, done.check.symbols));
        line("EVM", fmt::format("{:.3g} %, {:.3g} % by N0", 100.0 * done.check.evm,
                                100.0 * done.check.expected_evm));
    }
    line("erasures", fmt::format("{} of {} symbols", done.counters.erasures, done.symbols));
    line("saturated",
         saturation_text(done.counters.saturated, done.soft_bits, done.format, done.demapper.llr));
    const bool all = done.compared_bits == done.soft_bits;
    if (done.bit_errors)
        line("bit errors",
             bit_error_text(*done.bit_errors, error_rate(*done.bit_errors, done.compared_bits)) +
                 (all ? "" : fmt::format(" in {} bits; --count-errors takes all", done.compared_bits)));
    line("busy", busy_text(done.pipeline));
    if (done.measured) line("measured before", fmt::format("in {:.3g} s", done.measured->seconds));
    return result;
}

}  // namespace phy::apps
