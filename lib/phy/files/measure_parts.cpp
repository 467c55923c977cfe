#include "phy/files/measure_parts.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "phy/core/error.hpp"
#include "phy/files/common.hpp"
#include "phy/files/measure/slots.hpp"
#include "phy/files/measure/symbols.hpp"

namespace phy {
namespace {

std::string text_of(const ItemRange& range) {
    return std::to_string(range.first) + ":" + std::to_string(range.count);
}

/// Throws ArgumentError for a plan that does not fit what is measured.
void require_plan_of(const MeasurePlan& plan, std::uint64_t items, std::uint64_t unit) {
    if (plan.items == items && plan.unit == unit) return;
    throw ArgumentError("plan of " + std::to_string(plan.items) + " items in units of " +
                        std::to_string(plan.unit) + ": expected that of this capture and these options, " +
                        std::to_string(items) + " in units of " + std::to_string(unit));
}

/// Throws ArgumentError for a part that does not begin and end at multiples of the unit.
void require_units(const ItemRange& part, const MeasurePlan& plan) {
    const std::string name = "part " + text_of(part) + ": expected ";
    const std::uint64_t before = part.first / plan.unit * plan.unit;
    if (part.first != before)
        throw ArgumentError(name + "a first item that is a multiple of " + std::to_string(plan.unit) +
                            ", such as " + std::to_string(before));
    const bool ends_capture = part.first + part.count == plan.items;
    if (!ends_capture && part.count % plan.unit != 0)
        throw ArgumentError(name + "a multiple of " + std::to_string(plan.unit) +
                            " items, or all to the end: " + std::to_string(plan.items - part.first));
}

/// Sorts parts. Throws ArgumentError if they are not those of all items, by these settings.
void require_all(std::vector<MeasuredPart>& parts, const MeasurePlan& plan, const std::string& settings) {
    std::ranges::sort(parts, {}, [](const MeasuredPart& part) { return part.range.first; });
    std::uint64_t next = 0;
    const auto require_next = [&](std::uint64_t first) {
        if (first > next)
            throw ArgumentError("parts: items " + std::to_string(next) + " to " + std::to_string(first - 1) +
                                " are in no part");
        if (first < next)
            throw ArgumentError("parts: item " + std::to_string(first) +
                                " is in two parts, or behind the end");
    };
    for (const MeasuredPart& part : parts) {
        if (part.cancelled) throw ArgumentError("part " + text_of(part.range) + ": was stopped");
        if (part.settings != settings)
            throw ArgumentError("part " + text_of(part.range) + ": was measured by " + part.settings +
                                ": expected " + settings);
        require_next(part.range.first);
        next += part.range.count;
    }
    require_next(plan.items);
}

}  // namespace

MeasurePlan plan_measurement(const std::filesystem::path& capture, const MeasureOptions& options) {
    CaptureReader reader = detail::open_to_measure(capture, options);
    if (reader.description().kind != CaptureKind::symbols)
        return detail::plan_slots(reader.description(), options);
    detail::SymbolMeasuring measuring(std::move(reader), options, {});
    measuring.find_gain();
    const Measured& found = measuring.result();
    return {
        .items = found.symbols, .unit = measuring.unit(), .gain = found.meter.gain, .no_gain = found.no_gain};
}

MeasuredPart measure_part(const std::filesystem::path& capture, const MeasureOptions& options,
                          const MeasurePlan& plan) {
    CaptureReader reader = detail::open_to_measure(capture, options);
    if (reader.description().kind != CaptureKind::symbols)
        return detail::measure_part_of_slots(reader.description(), options, plan);
    detail::SymbolMeasuring measuring(std::move(reader), options, {});
    const Measured& whole = measuring.result();
    require_plan_of(plan, whole.symbols, measuring.unit());
    const ItemRange part = detail::range_or_all(options.range, whole.symbols, "symbols", whole.capture);
    require_units(part, plan);
    measuring.set_gain(plan);
    return measuring.sum(part);
}

Measured join_measured(const std::filesystem::path& capture, const MeasureOptions& options,
                       const MeasurePlan& plan, std::vector<MeasuredPart> parts) {
    CaptureReader reader = detail::open_to_measure(capture, options);
    if (reader.description().kind != CaptureKind::symbols) {
        require_all(parts, plan, detail::settings_of_slots(plan));
        return detail::join_slots(reader.description(), options, plan, parts);
    }
    detail::SymbolMeasuring measuring(std::move(reader), options, {});
    require_plan_of(plan, measuring.result().symbols, measuring.unit());
    measuring.set_gain(plan);
    require_all(parts, plan, measuring.settings());
    for (const MeasuredPart& part : parts)
        require_units(part.range, plan);
    return measuring.finish(parts);
}

}  // namespace phy
