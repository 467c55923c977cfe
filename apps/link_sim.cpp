#include <chrono>
#include <cstdint>

#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "link_sim/options.hpp"
#include "link_sim/run.hpp"
#include "link_sim/simulation.hpp"
#include "phy/machine/host.hpp"

namespace {

using namespace phy::apps;

/// Reports the points that are done when the user asks to stop.
LinkReport simulate_all(const LinkSimOptions& options, bool quiet) {
    const auto start = std::chrono::steady_clock::now();
    LinkReport report;
    report.options = options;
    report.points = points_of(options);
    report.threads = options.threads == 0 ? phy::Host::processors() : options.threads;
    const StopRule rule = stop_rule_of(options);
    PointsProgress progress(report.points.size(), quiet);
    std::uint64_t symbols = 0;
    const auto show = [&](const PointState& state) {
        throw_if_interrupted();
        progress.show(symbols + symbols_of(state),
                      static_cast<double>(report.states.size()) + state.done(rule));
    };
    try {
        for (const LinkConfig& point : report.points) {
            report.states.push_back(simulate(point, rule, report.threads, show));
            symbols += symbols_of(report.states.back());
        }
    } catch (const Interrupted&) {
        report.points.resize(report.states.size());
        report.complete = false;
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

}  // namespace

int main(int argc, char** argv) {
    LinkSimOptions options;
    App app;
    app.name = "link_sim";
    app.summary =
        "Simulates a link slot by slot, from random bits to soft bits: bit error rate, EVM and mutual\n"
        "information of soft bits against SNR; with --mcs or --code-rate block error rate and throughput. "
        "The\n"
        "same options give the same numbers.";
    app.examples = {
        {"link_sim --modulation 64qam --snr-db 8:2:20", "bit error rate and EVM of uncoded symbols"},
        {"link_sim --mcs 20 --snr-db 14:1:18 --json",
         "block error rate and throughput of a modulation and coding scheme"}};
    add_link_sim_options(options, app.options);
    app.body = [&options](const CommonOptions& common) {
        ReportOutput output(options, common);
        with_option_names(options, [&] { output.write(simulate_all(options, common.quiet)); });
    };
    return run_app(app, argc, argv);
}
