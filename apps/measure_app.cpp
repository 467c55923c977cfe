#include <cstdint>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "capture/options.hpp"
#include "capture/scrambling.hpp"
#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "measure/options.hpp"
#include "measure/report.hpp"

namespace {

using namespace phy::apps;

phy::SymbolReference parse_reference(const std::string& text) {
    if (text == "decisions") return phy::SymbolReference::decisions;
    if (text == "sent") return phy::SymbolReference::sent;
    throw phy::ArgumentError(fmt::format("--reference {}: expected 'decisions' or 'sent'", text));
}

void set_rows(phy::MeasureOptions& how, const std::string& text) {
    if (text == "row") {
        how.by = phy::MeasureBy::row;
    } else if (text == "slot") {
        how.by = phy::MeasureBy::slot;
    } else {
        const std::optional<std::uint64_t> row = parse_number<std::uint64_t>(text);
        if (!row || *row == 0)
            throw phy::ArgumentError(
                fmt::format("--by {}: expected 'row', 'slot' or a whole number of symbols from 1 on", text));
        how.by = phy::MeasureBy::symbols;
        how.row = *row;
    }
}

void add_measure_options(MeasureAppOptions& options, po::options_description& list) {
    phy::MeasureOptions& how = options.how;
    const auto by = [&how](const std::string& text) { set_rows(how, text); };
    const auto parse_descramble = [](const std::string& text) {
        return parse_scrambling("--descramble", text);
    };
    const auto read = [](const std::string& file) { return phy::read_link(file); };
    list.add_options()  //
        ("link", parsed(how.link, read, "FILE"),
         "what was sent where, as JSON: a grid or samples are received with it, and their equalised symbols "
         "measured; default: the capture's attribute")  //
        ("gain", parsed(how.gain, parse_gain, "X|auto"),
         "the amplitude of the constellation, by which symbols are divided before they are decided; "
         "default auto: measured")  //
        ("reference", parsed(how.reference, parse_reference, "REFERENCE"),
         "decisions (default): measure against the nearest points; sent: against the dataset bits")  //
        ("descramble", parsed(how.scrambling, parse_descramble, "n_RNTI,n_ID[,q]"),
         "with --reference sent: the capture is one codeword that was scrambled so (TS 38.211 clauses "
         "6.3.1.1, "
         "7.3.1.1; q is 0 or 1, default 0), and the dataset bits is that before")  //
        ("by", po::value<std::string>()->value_name("row|slot|N")->notifier(by),
         "measure parts too: rows of the dataset's last dimension, 14 of them, or N symbols; rows that are "
         "no multiple of 1024 symbols have to fit into memory, several at a time");
}

phy::Measured measure(const MeasureAppOptions& options, bool quiet) {
    if (options.how.scrambling && options.how.reference != phy::SymbolReference::sent)
        throw phy::ArgumentError(
            "--descramble: expected --reference sent beside it, as decisions need no bits");
    Progress progress(0, quiet);
    phy::MeasureOptions how = options.how;
    how.places = places_of(options.machine);
    how.pipeline = pipeline_of(options.machine);
    how.progress = [&](std::uint64_t done, std::uint64_t all) {
        throw_if_interrupted();
        progress.update(done, all);
    };
    try {
        return with_machine_errors(options.machine, [&] { return measure_file(options.capture, how); });
    } catch (const phy::PipelineSizeError& error) {
        const bool by_rows = options.how.by != phy::MeasureBy::whole;
        if (by_rows && error.culprit() == phy::PipelineSizeError::Culprit::stage)
            throw phy::ArgumentError(fmt::format("--by: a row goes through as one: {}", error.what()));
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
        "Measures the IQ samples of a capture: power, offset, imbalance, gain, EVM and noise.\n"
        "By decisions the EVM is as measured, not corrected for those that go wrong; the noise variance is.\n"
        "The rms EVM is after gain and phase are fitted; the peak is with the gain that symbols are divided "
        "by\n"
        "and without a phase.";
    app.operand = Operand{"CAPTURE", &options.capture};
    add_capture_options(options.how.capture, app.options);
    add_measure_options(options, app.options);
    add_machine_options(options.machine, app.options);
    app.body = [&options](const CommonOptions& common) { run(options, common); };
    return run_app(app, argc, argv);
}
