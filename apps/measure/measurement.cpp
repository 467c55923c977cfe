#include "measure/measurement.hpp"

#include <utility>

#include <fmt/format.h>

#include "capture/options.hpp"
#include "capture/survey.hpp"
#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"

namespace phy::apps {
namespace {

/// Ignores attributes that options override, and N0.
CaptureDescription describe_capture(const std::string& file, const MeasureOptions& how) {
    CaptureOptions capture = how.capture;
    capture.ignores_noise_variance = true;
    if (how.link) {
        capture.link.emplace();
        if (!capture.modulation) capture.modulation = how.link->modulation;
    }
    return CaptureReader(file, capture).description();
}

/// A capture, and how it is measured.
class Opened {
public:
    Opened(const MeasureAppOptions& options, bool quiet)
        : options_(options),
          how_(checked(options)),
          capture_(describe_capture(options.capture, how_)),
          progress_(0, quiet, has_symbols() ? Progress::Unit::symbols : Progress::Unit::slots) {
        if (has_symbols() && !options.survey.empty() && !options.surveys_if_slots)
            throw ArgumentError("--survey: not for a capture of symbols");
        set_machine(how_, options.machine, progress_);
    }

    [[nodiscard]] const CaptureDescription& capture() const { return capture_; }
    [[nodiscard]] bool has_symbols() const { return capture_.kind == CaptureKind::symbols; }
    [[nodiscard]] MeasureOptions how() const { return how_; }

    [[nodiscard]] MeasureOptions how_by_survey() const {
        MeasureOptions how = how_;
        const auto make = [&] { return plan_measurement(options_.capture, how).survey; };
        if (!has_symbols() && !options_.survey.empty()) how.survey = survey_of(options_.survey, make, false);
        return how;
    }

private:
    static MeasureOptions checked(const MeasureAppOptions& options) {
        if (options.how.scrambling && options.how.reference != SymbolReference::sent)
            throw ArgumentError("--descramble: expected --reference sent too, as decisions need no bits");
        MeasureOptions how = options.how;
        choose_kind(how.capture, options.capture, how.link);
        return how;
    }

    const MeasureAppOptions& options_;
    MeasureOptions how_;
    CaptureDescription capture_;
    Progress progress_;
};

/// Calls work(Opened&); errors name the options that help.
template <typename Work>
auto with_opened(const MeasureAppOptions& options, bool quiet, Work work) {
    try {
        return with_survey_errors(options.survey, [&] {
            return with_machine_errors(options.machine, [&] {
                Opened opened(options, quiet);
                return work(opened);
            });
        });
    } catch (const PipelineSizeError& error) {
        const bool by_rows = options.how.by != MeasureBy::whole;
        if (by_rows && error.culprit() == PipelineSizeError::Culprit::stage)
            throw ArgumentError(fmt::format("--by: a row is processed as one: {}", error.what()));
        throw;
    } catch (const DescriptionError& error) {
        if (error.lacks() == DescriptionError::Lacks::link)
            throw FileError(fmt::format("{}: expected that, or --link FILE", error.what()));
        throw FileError(fmt::format("--reference sent: {}", error.what()));
    }
}

}  // namespace

Measured measure(const MeasureAppOptions& options, bool quiet) {
    return with_opened(options, quiet, [&](const Opened& opened) {
        return measure_file(options.capture, opened.how_by_survey());
    });
}

std::vector<std::filesystem::path> input_files(const MeasureAppOptions& options) {
    return with_opened(options, true, [&](const Opened& opened) {
        std::vector<std::filesystem::path> files = opened.capture().files;
        if (!options.link.empty()) files.emplace_back(options.link);
        return files;
    });
}

PlannedMeasurement plan_measurement(const MeasureAppOptions& options, bool quiet) {
    return with_opened(options, quiet, [&](const Opened& opened) {
        MeasurePlan plan = plan_measurement(options.capture, opened.how_by_survey());
        throw_if_interrupted();
        return PlannedMeasurement{std::move(plan), opened.has_symbols()};
    });
}

MeasuredPart measure_part(const MeasureAppOptions& options, const MeasurePlan& plan, const ItemRange& range,
                          const std::function<void()>& each_chunk) {
    return with_opened(options, true, [&](const Opened& opened) {
        MeasureOptions how = opened.how();
        how.range = range;
        how.progress = [shown = how.progress, each_chunk](std::uint64_t done, std::uint64_t all) {
            each_chunk();
            shown(done, all);
        };
        MeasuredPart part = measure_part(options.capture, how, plan);
        throw_if_interrupted();
        return part;
    });
}

Measured join_measured(const MeasureAppOptions& options, const MeasurePlan& plan,
                       std::vector<MeasuredPart> parts) {
    return with_opened(options, true, [&](const Opened& opened) {
        return join_measured(options.capture, opened.how(), plan, std::move(parts));
    });
}

}  // namespace phy::apps
