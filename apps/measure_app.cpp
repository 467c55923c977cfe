#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "capture/options.hpp"
#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "measure/options.hpp"
#include "measure/report.hpp"

namespace {

using namespace phy::apps;

/// Ignores attributes that options override, and N0.
phy::CaptureKind kind_of(const std::string& file, const phy::MeasureOptions& how) {
    phy::CaptureOptions capture = how.capture;
    capture.ignores_noise_variance = true;
    if (how.link) {
        capture.link.emplace();
        if (!capture.modulation) capture.modulation = how.link->modulation;
    }
    return phy::CaptureReader(file, capture).description().kind;
}

phy::Measured measure(const MeasureAppOptions& options, bool quiet) {
    if (options.how.scrambling && options.how.reference != phy::SymbolReference::sent)
        throw phy::ArgumentError("--descramble: expected --reference sent too, as decisions need no bits");
    phy::MeasureOptions how = options.how;
    choose_kind(how.capture, options.capture, how.link);
    try {
        const bool is_symbols = kind_of(options.capture, how) == phy::CaptureKind::symbols;
        Progress progress(0, quiet, is_symbols ? Progress::Unit::symbols : Progress::Unit::slots);
        set_machine(how, options.machine, progress);
        return with_machine_errors(options.machine, [&] { return measure_file(options.capture, how); });
    } catch (const phy::PipelineSizeError& error) {
        const bool by_rows = options.how.by != phy::MeasureBy::whole;
        if (by_rows && error.culprit() == phy::PipelineSizeError::Culprit::stage)
            throw phy::ArgumentError(fmt::format("--by: a row is processed as one: {}", error.what()));
        throw;
    } catch (const phy::DescriptionError& error) {
        if (error.lacks() == phy::DescriptionError::Lacks::link)
            throw phy::FileError(fmt::format("{}: expected that, or --link FILE", error.what()));
        throw phy::FileError(fmt::format("--reference sent: {}", error.what()));
    }
}

void run(const MeasureAppOptions& options, const CommonOptions& common) {
    const phy::Measured done = measure(options, common.quiet);
    throw_if_interrupted();
    for (const std::string& warning : done.warnings)
        spdlog::warn(warning);
    if (!done.no_gain.empty()) spdlog::warn(done.no_gain);
    print_result(common, json_of(done), text_of(done));
}

}  // namespace

int main(int argc, char** argv) {
    MeasureAppOptions options;
    App app;
    app.name = "measure_app";
    app.summary =
        "Measures the IQ samples of a capture: power, DC offset, IQ imbalance, gain, EVM and N0.\n"
        "N0 is corrected for wrong decisions, the EVM is not.\n"
        "The rms EVM is measured after gain and phase are fitted; the peak EVM after division by the gain\n"
        "alone.";
    app.examples = {{"measure_app symbols.h5 --gain auto", "EVM, noise and imbalance of a capture"},
                    {"measure_app symbols.h5 --by 12k --json", "the same for every 12,000 symbols"}};
    app.operand = Operand{"CAPTURE", &options.capture};
    add_measure_app_options(options, app.options);
    app.body = [&options](const CommonOptions& common) { run(options, common); };
    return run_app(app, argc, argv);
}
