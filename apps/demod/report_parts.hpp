#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/json.hpp"
#include "phy/pipeline/pipeline.hpp"

/// Parts of both reports, of symbols and of slots.
namespace phy::apps {

/// A line of a report for people.
inline void add_line(std::string& report, std::string_view name, std::string_view value) {
    report += fmt::format("{:<16}{}\n", name, value);
}

/// The busy time of each step of a pipeline.
inline std::string busy_text(const PipelineReport& report) {
    std::string busy;
    for (const PipelineReport::Busy& stage : report.busy)
        busy += fmt::format("{}{} {:.3g} s", busy.empty() ? "" : ", ", stage.step, stage.seconds);
    return busy;
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
