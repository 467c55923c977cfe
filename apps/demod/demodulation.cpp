#include "demod/demodulation.hpp"

#include <filesystem>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "common/output_file.hpp"
#include "common/progress.hpp"
#include "phy/pipeline/trace.hpp"

namespace phy::apps {
namespace {

/// Throws ArgumentError if writing the one would destroy the other.
void require_other_file(const std::string& file, const std::string& other, const char* what) {
    std::error_code not_there;
    if (file.empty() || other.empty()) return;
    const auto name = [&](const std::string& path) {
        return std::filesystem::weakly_canonical(std::filesystem::absolute(path), not_there);
    };
    if (std::filesystem::equivalent(file, other, not_there) || name(file) == name(other))
        throw ArgumentError(fmt::format("{}: {}", file, what));
}

void check_files(const DemodOptions& options) {
    require_other_file(options.output, options.capture, "the output would overwrite the capture");
    require_other_file(options.trace, options.capture, "the trace would overwrite the capture");
    require_other_file(options.trace, options.output, "the trace would overwrite the output");
    require_force_if_exists(options.output, options.how.overwrite);
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
        case DescriptionError::Lacks::bits:
            break;
    }
    return "expected those";
}

/// With errors that tell of the options.
Demodulation demodulate(const DemodOptions& options, const DemodulateOptions& how) {
    try {
        return with_machine_errors(options.machine,
                                   [&] { return demodulate_file(options.capture, options.output, how); });
    } catch (const DescriptionError& error) {
        throw FileError(
            fmt::format("{}: {}", error.what(), options_for(error.lacks(), options.how.estimate_noise)));
    }
}

/// With progress, interrupts and the trace.
Demodulation demodulate_visibly(const DemodOptions& options, std::optional<OutputFile>& trace, bool quiet) {
    Progress progress(0, quiet);
    DemodulateOptions how = options.how;
    how.places = places_of(options.machine);
    how.pipeline = pipeline_of(options.machine);
    how.pipeline.trace = trace.has_value();
    how.progress = [&](std::uint64_t done, std::uint64_t all) {
        throw_if_interrupted();
        progress.update(done, all);
    };
    how.before_commit = [&](const PipelineReport& report) {
        throw_if_interrupted();
        if (trace) trace->write(trace_events(report));
    };
    return demodulate(options, how);
}

}  // namespace

Demodulation demodulate(const DemodOptions& options, bool quiet) {
    check_files(options);
    std::optional<OutputFile> trace;
    if (!options.trace.empty()) trace.emplace(options.trace, options.how.overwrite, "the trace");
    Demodulation done = demodulate_visibly(options, trace, quiet);
    if (trace) trace->commit();
    for (const std::string& warning : done.warnings)
        spdlog::warn(warning);
    return done;
}

}  // namespace phy::apps
