#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/app.hpp"
#include "common/interrupt.hpp"
#include "common/progress.hpp"
#include "link_sim/options.hpp"
#include "link_sim/report.hpp"
#include "link_sim/simulation.hpp"
#include "phy/core/error.hpp"
#include "phy/machine/atomic_file.hpp"

namespace {

using namespace phy::apps;

/// Shows the progress of all points in symbols. The total is estimated from the symbols done and their share.
class PointProgress {
public:
    PointProgress(std::size_t points, bool quiet) : points_(points), progress_(0, quiet) {}

    void show(const PointState& state, const StopRule& rule) {
        throw_if_interrupted();
        const double share = (static_cast<double>(done_) + state.done(rule)) / static_cast<double>(points_);
        const std::uint64_t symbols = symbols_ + symbols_of(state);
        if (share > 0.0)
            progress_.update(symbols, static_cast<std::uint64_t>(static_cast<double>(symbols) / share));
    }

    void finish(const PointState& state) {
        ++done_;
        symbols_ += symbols_of(state);
    }

private:
    static std::uint64_t symbols_of(const PointState& state) { return state.sums.front().symbols.symbols; }

    std::size_t points_;
    std::size_t done_ = 0;
    std::uint64_t symbols_ = 0;
    Progress progress_;
};

/// Renames the estimator's parameters in its errors to the program's options.
[[noreturn]] void throw_with_option(const LinkSimOptions& options, std::string_view error) {
    std::string option;
    if (error.starts_with("delay_spread"))
        option = fmt::format("--delay-spread {} (ns): ", options.delay_spread_ns);
    throw phy::ArgumentError(fmt::format("{}{}", option, error));
}

/// Reports the points that are done when the user asks to stop.
LinkReport simulate_all(const LinkSimOptions& options, bool quiet) {
    const auto start = std::chrono::steady_clock::now();
    LinkReport report;
    report.options = options;
    report.points = points_of(options);
    report.threads = options.threads == 0 ? phy::Host::processors() : options.threads;
    const StopRule rule = stop_rule_of(options);
    PointProgress progress(report.points.size(), quiet);
    try {
        for (const LinkConfig& point : report.points) {
            report.states.push_back(simulate(point, rule, report.threads,
                                             [&](const PointState& state) { progress.show(state, rule); }));
            progress.finish(report.states.back());
        }
    } catch (const Interrupted&) {
        report.points.resize(report.states.size());
        report.complete = false;
    } catch (const phy::ArgumentError& error) {
        throw_with_option(options, error.what());
    }
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

void run(const LinkSimOptions& options, const CommonOptions& common) {
    require_force_if_exists(options.csv, options.force);
    std::optional<phy::AtomicFile> csv;
    if (!options.csv.empty()) csv.emplace(options.csv, phy::AtomicFile::Config{.overwrite = options.force});
    const LinkReport report = simulate_all(options, common.quiet);
    if (report.points.empty()) throw Interrupted();
    if (csv) csv->append(csv_of(report));
    print_result(common, json_of(report), text_of(report));
    if (csv) csv->commit();
    if (!report.complete) throw Interrupted();
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
    app.body = [&options](const CommonOptions& common) { run(options, common); };
    return run_app(app, argc, argv);
}
