#include <string>

#include <spdlog/spdlog.h>

#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "measure/measurement.hpp"
#include "measure/options.hpp"
#include "measure/report.hpp"

namespace {

using namespace phy::apps;

void run(const MeasureAppOptions& options, const CommonOptions& common) {
    const phy::Measured done = measure(options, common.quiet);
    throw_if_interrupted();
    for (const std::string& warning : done.warnings)
        spdlog::warn(warning);
    if (!done.no_gain.empty()) spdlog::warn(done.no_gain);
    print_result(common, Json::object(members_of(done)), text_of(done));
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
