#include "common/demod_report.hpp"

#include <fmt/format.h>

namespace phy::apps {
namespace {

double rate(std::uint64_t count, double seconds) {
    return static_cast<double>(count) / seconds;
}

double bit_error_rate(std::uint64_t errors, std::uint64_t bits) {
    return static_cast<double>(errors) / static_cast<double>(bits);
}

}  // namespace

Json DemodReport::json() const {
    std::vector<Json::Member> busy;
    for (const PipelineReport::Busy& stage : stages)
        busy.emplace_back(stage.step, stage.seconds);
    std::vector<Json::Member> members = {
        {"symbols", symbols},
        {"soft_bits", soft_bits},
        {"seconds", seconds},
        {"symbols_per_second", rate(symbols, seconds)},
        {"soft_bits_per_second", rate(soft_bits, seconds)},
        {"backend", backend},
        {"device", device},
        {"modulation", to_string(modulation)},
        {"noise_variance", noise_variance ? Json(*noise_variance) : Json("per_symbol")},
        {"erasures", counters.erasures},
        {"saturated", counters.saturated},
    };
    if (bit_errors) {
        members.emplace_back("bit_errors", *bit_errors);
        members.emplace_back("bit_error_rate", bit_error_rate(*bit_errors, soft_bits));
    }
    members.emplace_back("stages", Json::object(busy));
    return Json::object(members);
}

std::string DemodReport::text() const {
    std::string result;
    const auto line = [&result](const char* name, const std::string& value) {
        result += fmt::format("{:<16}{}\n", name, value);
    };
    line("symbols", fmt::format("{} ({})", symbols, to_string(modulation)));
    line("soft bits", fmt::format("{}", soft_bits));
    line("seconds", fmt::format("{:.3g}", seconds));
    line("throughput", fmt::format("{:.4g} Msymbol/s, {:.4g} Mbit/s", 1e-6 * rate(symbols, seconds),
                                   1e-6 * rate(soft_bits, seconds)));
    line("backend", device ? fmt::format("{}, {}", backend, *device) : backend);
    line("noise variance", noise_variance ? fmt::format("{}", *noise_variance) : "one a symbol");
    line("erasures", fmt::format("{}", counters.erasures));
    line("saturated", fmt::format("{}", counters.saturated));
    if (bit_errors)
        line("bit errors",
             fmt::format("{} (rate {:.3g})", *bit_errors, bit_error_rate(*bit_errors, soft_bits)));
    std::string busy;
    for (const PipelineReport::Busy& stage : stages)
        busy += fmt::format("{}{} {:.3g} s", busy.empty() ? "" : ", ", stage.step, stage.seconds);
    line("busy", busy);
    return result;
}

}  // namespace phy::apps
