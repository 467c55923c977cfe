#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/error_rate.hpp"
#include "common/json.hpp"
#include "phy/core/demapper_config.hpp"
#include "phy/core/format.hpp"
#include "phy/pipeline/pipeline.hpp"

/// Parts of both reports, of symbols and of slots.
namespace phy::apps {

/// A line of a report for people.
inline void add_line(std::string& report, std::string_view name, std::string_view value) {
    report += fmt::format("{:<16}{}\n", name, value);
}

/// Why int8 soft bits saturate: the SNR, or an option far from its default.
inline std::string saturation_cause(const LlrConfig& llr) {
    constexpr float usual_nats = 6.0F;  // below, saturation costs information: see docs/simulation.md
    constexpr LlrConfig usual;
    if (static_cast<float>(llr.clip) / llr.scale >= usual_nats) return "normal at high SNR";
    const bool is_scale =
        llr.scale / usual.scale > static_cast<float>(usual.clip) / static_cast<float>(llr.clip);
    return is_scale ? fmt::format("--llr-scale {:g} is large", llr.scale)
                    : fmt::format("--llr-clip {} is small", llr.clip);
}

/// Such as "489 (rate 0.001572, 0.00144 to 0.00172 with 95 % confidence)", or "0 (rate < 3.1e-06)".
inline std::string bit_error_text(std::uint64_t bit_errors, const ErrorRate& rate) {
    return fmt::format("{} (rate {}{})", bit_errors, rate_text(rate),
                       bit_errors == 0 ? "" : fmt::format(", {} with 95 % confidence", interval_text(rate)));
}

inline void add_bit_errors(std::vector<Json::Member>& members, std::uint64_t bit_errors,
                           std::uint64_t compared_bits, const ErrorRate& rate) {
    members.emplace_back("bit_errors", bit_errors);
    members.emplace_back("compared_bits", compared_bits);
    members.emplace_back("bit_error_rate", rate.rate);
    members.emplace_back("bit_error_rate_low", rate.low);
    members.emplace_back("bit_error_rate_high", rate.high);
}

/// What saturation means: the L from which soft bits are at the limit of their format.
inline std::string saturation_text(std::uint64_t saturated, std::uint64_t soft_bits, SoftBitFormat format,
                                   const LlrConfig& llr) {
    std::string text = fmt::format("{} of {} soft bits", saturated, soft_bits);
    if (saturated == 0) return text;
    text +=
        fmt::format(" ({:.3g} %)", 100.0 * static_cast<double>(saturated) / static_cast<double>(soft_bits));
    if (format != SoftBitFormat::int8) return text + ": their L is beyond the format";
    return text + fmt::format(" at +-{}, for |L| from {:.3g} nats on: {}", llr.clip,
                              static_cast<double>(llr.clip) / static_cast<double>(llr.scale),
                              saturation_cause(llr));
}

/// The busy time of each step of a pipeline.
inline std::string busy_text(const PipelineReport& report) {
    std::string busy;
    for (const PipelineReport::Busy& stage : report.busy)
        busy += fmt::format("{}{} {:.3g} s", busy.empty() ? "" : ", ", stage.step, stage.seconds);
    return busy;
}

/// Steps per nat; null for floating-point soft bits.
inline Json scale_json(SoftBitFormat format, const LlrConfig& llr) {
    return format == SoftBitFormat::int8 ? Json(llr.scale) : Json();
}

inline Json json_of(const std::vector<std::string>& texts) {
    return Json::array({texts.begin(), texts.end()});
}

inline Json busy_json(const PipelineReport& report) {
    std::vector<Json::Member> busy;
    for (const PipelineReport::Busy& stage : report.busy)
        busy.emplace_back(stage.step, stage.seconds);
    return Json::object(busy);
}

}  // namespace phy::apps
