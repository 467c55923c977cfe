#include <string>
#include <variant>

#include <spdlog/spdlog.h>

#include "common/app.hpp"
#include "demod/demodulation.hpp"
#include "demod/report.hpp"

namespace {

using namespace phy::apps;

void run(const DemodOptions& options, const CommonOptions& common) {
    const Demodulated done = demodulate(options, common.quiet);
    std::visit(
        [&](const auto& result) {
            for (const std::string& warning : result.warnings)
                spdlog::warn(warning);
            print_result(common, json_of(result), text_of(result));
        },
        done);
}

}  // namespace

int main(int argc, char** argv) {
    DemodOptions options;
    App app;
    app.name = "demod_app";
    app.summary =
        "Turns a capture (symbols, a resource grid or baseband samples) into soft bits and reports speed "
        "and quality. Several files: antennas of one recording.";
    app.examples = {{"demod_app symbols.h5 --gain auto -o soft_bits.h5",
                     "soft bits of a capture of symbols whose amplitude is not known"},
                    {"demod_app recording.h5 --link pusch.json --diagnose --json",
                     "a recording, its link, and what would fit better if it does not fit"}};
    app.operand = Operand{"CAPTURE", &options.capture, &options.more_captures};
    app.printed = &options.example;
    add_demod_options(options, app.options);
    app.body = [&options](const CommonOptions& common) { run(options, common); };
    return run_app(app, argc, argv);
}
