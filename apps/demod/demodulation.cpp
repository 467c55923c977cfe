#include "demod/demodulation.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "demod/advice.hpp"
#include "phy/machine/atomic_file.hpp"
#include "phy/pipeline/trace.hpp"

namespace phy::apps {
namespace {

void require_no_capture(const DemodOptions& options, const std::string& file) {
    require_other_file(options.output, file, "the output would overwrite the capture");
    require_other_file(options.trace, file, "the trace would overwrite the capture");
}

void require_different_files(const DemodOptions& options) {
    require_no_capture(options, options.capture);
    require_other_file(options.trace, options.output, "the trace would overwrite the output");
    require_other_file(options.output, options.link, "the output would overwrite the link");
    require_other_file(options.trace, options.link, "the trace would overwrite the link");
}

/// The capture says which files are its own.
void check_outputs(const DemodOptions& options, const CaptureDescription& capture) {
    for (const std::filesystem::path& file : capture.files)
        require_no_capture(options, file.string());
    require_force_if_exists(options.output, options.how.overwrite);
    require_force_if_exists(options.trace, options.how.overwrite);
}

/// The options that say what a capture does not.
const char* options_for(DescriptionError::Lacks lacks, bool estimates_noise) {
    switch (lacks) {
        case DescriptionError::Lacks::modulation:
            return "expected that, or --modulation M";
        case DescriptionError::Lacks::noise_variance:
            return estimates_noise ? "--noise-variance X gives one"
                                   : "--noise-variance X gives one, --noise-variance estimate measures it";
        case DescriptionError::Lacks::modulation_and_noise_variance:
            return "expected both, or --modulation M and --noise-variance X or estimate";
        case DescriptionError::Lacks::link:
            return "expected that, or --link FILE";
        case DescriptionError::Lacks::bits:
            break;
    }
    return "expected those";
}

/// Calls work, with errors that tell of the options.
template <typename Work>
auto with_option_errors(const DemodOptions& options, Work work) {
    try {
        return with_machine_errors(options.machine, work);
    } catch (const DescriptionError& error) {
        throw FileError(
            fmt::format("{}: {}", error.what(), options_for(error.lacks(), options.how.estimate_noise)));
    }
}

/// Progress, interrupts and the trace, for options of either kind.
template <typename How>
How visible(How how, const DemodOptions& options, std::optional<AtomicFile>& trace, Progress& progress) {
    how.places = places_of(options.machine);
    how.pipeline = pipeline_of(options.machine);
    how.pipeline.trace = trace.has_value();
    how.progress = [&](std::uint64_t done, std::uint64_t all) {
        throw_if_interrupted();
        progress.update(done, all);
    };
    how.before_commit = [&](const PipelineReport& report) {
        throw_if_interrupted();
        if (trace) trace->append(trace_events(report));
    };
    return how;
}

void require_none_of(const char* kind, const std::vector<std::pair<bool, const char*>>& given) {
    for (const auto& [is_given, option] : given)
        if (is_given) throw ArgumentError(fmt::format("{}: not for a capture of {}", option, kind));
}

DemodulateOptions of_symbols(const DemodOptions& options) {
    require_none_of("symbols", {{options.receive.writes_symbols || options.receive.writes_channel, "--write"},
                                {options.receive.diagnoses, "--diagnose"},
                                {!options.receive.diagnose.scrambling_ids.empty(), "--scrambling-ids"}});
    DemodulateOptions how = options.how;
    how.format = options.llr.value_or(how.hard ? SoftBitFormat::float16 : SoftBitFormat::int8);
    if (options.link.empty()) return how;
    require_none_of("symbols with a link", {{how.descramble.has_value(), "--descramble"}});
    how.link = read_link(options.link);
    return how;
}

ReceiveOptions of_slots(const DemodOptions& options, CaptureKind kind) {
    const DemodulateOptions& how = options.how;
    const std::string name(to_string(kind));
    require_none_of(name.c_str(), {{how.gain != 1.0F, "--gain"},
                                   {how.descramble.has_value(), "--descramble"},
                                   {how.hard, "--hard"},
                                   {how.keep_shape, "--keep-shape"},
                                   {how.count_all_errors, "--count-errors"}});
    ReceiveOptions receive = options.receive;
    if (!receive.diagnoses && !receive.diagnose.scrambling_ids.empty())
        throw ArgumentError("--scrambling-ids: only with --diagnose");
    receive.capture = how.capture;
    if (!options.link.empty()) receive.link = read_link(options.link);
    receive.noise_variance = how.capture.noise_variance;
    receive.demapper = how.demapper;
    receive.format = options.llr.value_or(how.format);
    receive.overwrite = how.overwrite;
    receive.durable = how.durable;
    return receive;
}

/// Without looking at what options go before.
CaptureDescription describe_capture(const DemodOptions& options) {
    CaptureOptions capture = options.how.capture;
    capture.ignores_noise_variance = options.how.estimate_noise;
    if (!options.link.empty()) {
        capture.link.emplace();
        if (!capture.modulation) capture.modulation = read_link(options.link).modulation;
    }
    return CaptureReader(options.capture, capture).description();
}

/// With progress, interrupts and the trace.
Demodulated demodulate_visibly(const DemodOptions& options, CaptureKind kind,
                               std::optional<AtomicFile>& trace, bool quiet) {
    Progress progress(0, quiet);
    return with_option_errors(options, [&]() -> Demodulated {
        if (kind == CaptureKind::symbols)
            return demodulate_file(options.capture, options.output,
                                   visible(of_symbols(options), options, trace, progress));
        return receive_file(options.capture, options.output,
                            visible(of_slots(options, kind), options, trace, progress));
    });
}

}  // namespace

Demodulated demodulate(const DemodOptions& options, bool quiet) {
    require_different_files(options);
    const CaptureDescription capture = with_option_errors(options, [&] { return describe_capture(options); });
    check_outputs(options, capture);
    std::optional<AtomicFile> trace;
    if (!options.trace.empty())
        trace.emplace(options.trace,
                      AtomicFile::Config{.overwrite = options.how.overwrite, .durable = options.how.durable});
    Demodulated done = demodulate_visibly(options, capture.kind, trace, quiet);
    if (trace) trace->commit();
    if (auto* const symbols = std::get_if<Demodulation>(&done)) {
        if (const std::optional<std::string> advice = advice_of(*symbols, options))
            symbols->warnings.push_back(*advice);
    }
    std::visit(
        [](const auto& result) {
            for (const std::string& warning : result.warnings)
                spdlog::warn(warning);
        },
        done);
    return done;
}

}  // namespace phy::apps
