#include "link_sim/run.hpp"

#include <string_view>

#include <fmt/format.h>

#include "common/interrupt.hpp"
#include "phy/core/error.hpp"

namespace phy::apps {
void PointsProgress::show(std::uint64_t symbols, double points) {
    if (points > 0.0)
        progress_.update(symbols,
                         static_cast<std::uint64_t>(static_cast<double>(symbols) * points_ / points));
}

std::uint64_t symbols_of(const PointState& state) {
    return state.sums.front().symbols.symbols;
}

ReportOutput::ReportOutput(const LinkSimOptions& options, const CommonOptions& common) : common_(common) {
    require_force_if_exists(options.csv, options.force);
    if (!options.csv.empty()) csv_.emplace(options.csv, AtomicFile::Config{.overwrite = options.force});
}

void ReportOutput::write(const LinkReport& report) {
    if (report.points.empty()) throw Interrupted();
    if (csv_) csv_->append(csv_of(report));
    print_result(common_, json_of(report), text_of(report));
    if (csv_) csv_->commit();
    if (!report.complete) throw Interrupted();
}

void with_option_names(const LinkSimOptions& options, const std::function<void()>& begin) {
    try {
        begin();
    } catch (const ArgumentError& error) {
        const std::string_view what = error.what();
        if (!what.starts_with("delay_spread")) throw;
        throw ArgumentError(fmt::format("--delay-spread {} (ns): {}", options.delay_spread_ns, what));
    }
}

}  // namespace phy::apps
