#include "phy/files/measure/slots.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "phy/core/digest.hpp"
#include "phy/core/error.hpp"
#include "phy/files/common.hpp"
#include "phy/files/receive.hpp"
#include "phy/files/receive/prepare.hpp"

namespace phy::detail {
namespace {

void check_slot_options(const MeasureOptions& options) {
    const auto require = [](bool holds, const char* what) {
        if (!holds) throw ArgumentError(std::string(what) + " for a grid or samples");
    };
    require(!options.gain, "gain: expected none");
    require(options.reference == SymbolReference::decisions, "reference sent: expected decisions");
    require(options.by == MeasureBy::whole || options.by == MeasureBy::slot,
            "rows by symbols: expected slots");
}

ReceiveOptions receive_options(const CaptureDescription& capture, const MeasureOptions& options) {
    check_slot_options(options);
    ReceiveOptions receive{{options}};
    receive.capture.dataset = capture.dataset;
    receive.capture.kind = capture.kind;
    receive.capture.noise_variance.reset();
    receive.survey = options.survey;
    return receive;
}

/// What does not depend on symbols.
Measured describe(CaptureDescription capture, const Link& link, const ItemRange& range) {
    Measured result;
    result.capture = std::move(capture);
    result.capture.modulation = link.modulation;
    result.meter.modulation = link.modulation;
    result.transmitter = transmitter_of(link);
    result.range = range;
    result.symbols = range.count * codeword_symbols(link);
    return result;
}

void set_sums(Measured& result, std::vector<SymbolSums> slots, const MeasureOptions& options) {
    SymbolSums all;
    for (const SymbolSums& slot : slots)
        all = join(all, slot);
    result.whole = result.measurement(all);
    if (options.by != MeasureBy::slot) return;
    result.row = result.symbols / slots.size();
    result.rows = std::move(slots);
}

}  // namespace

Measured measure_slots(const CaptureDescription& capture, const MeasureOptions& options) {
    Reception received = receive_file(capture.file, {}, receive_options(capture, options));
    Measured result = describe(std::move(received.capture), received.link, received.range);
    result.places = std::move(received.places);
    result.pipeline = std::move(received.pipeline);
    result.warnings = std::move(received.warnings);
    result.cancelled = received.cancelled;
    result.seconds = received.seconds;
    if (!result.cancelled) set_sums(result, std::move(received.symbols), options);
    return result;
}

MeasurePlan plan_slots(const CaptureDescription& capture, const MeasureOptions& options) {
    CaptureSurvey survey = survey_file(capture.file, receive_options(capture, options));
    return {.items = survey.slots, .survey = std::move(survey.text)};
}

std::string settings_of_slots(const MeasurePlan& plan) {
    return "survey " + std::to_string(digest_of(std::as_bytes(std::span(plan.survey))));
}

MeasuredPart measure_part_of_slots(const CaptureDescription& capture, const MeasureOptions& options,
                                   const MeasurePlan& plan) {
    ReceiveOptions receive = receive_options(capture, options);
    receive.survey = plan.survey;
    Reception received = receive_file(capture.file, {}, receive);
    const double least = min_coherence(received.link.allocation);
    const auto has_dmrs = [least](const SlotReport& report) { return report.coherence >= least; };
    return {.range = received.range,
            .settings = settings_of_slots(plan),
            .rows = std::move(received.symbols),
            .slots_with_dmrs = static_cast<std::uint64_t>(std::ranges::count_if(received.reports, has_dmrs)),
            .warnings = std::move(received.warnings),
            .cancelled = received.cancelled};
}

Measured join_slots(const CaptureDescription& capture, const MeasureOptions& options, const MeasurePlan& plan,
                    std::span<const MeasuredPart> parts) {
    ReceiveOptions receive = receive_options(capture, options);
    receive.survey = plan.survey;
    PreparedCapture prepared(capture.file, receive);
    Reception whole;
    Measured result;
    result.cancelled = !prepared.survey(whole);
    if (result.cancelled) return result;
    result = describe(std::move(whole.capture), whole.link, {0, plan.items});
    result.places = places_or_default(options.places);
    std::vector<SymbolSums> slots;
    std::uint64_t with_dmrs = 0;
    for (const MeasuredPart& part : parts) {
        slots.insert(slots.end(), part.rows.begin(), part.rows.end());
        with_dmrs += part.slots_with_dmrs;
        for (const std::string& warning : part.warnings)
            if (std::ranges::find(result.warnings, warning) == result.warnings.end())
                result.warnings.push_back(warning);
    }
    if (slots.size() != plan.items || prepared.slots().occasions() != plan.items)
        throw ArgumentError("parts have sums of " + std::to_string(slots.size()) + " slots: expected " +
                            std::to_string(prepared.slots().occasions()));
    if (with_dmrs == 0)
        throw FileError(name_of(result.capture) + ": the DM-RS were found in none of " +
                        std::to_string(plan.items) + " slots");
    set_sums(result, std::move(slots), options);
    return result;
}

}  // namespace phy::detail
