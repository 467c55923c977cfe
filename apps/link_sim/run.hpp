#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>

#include "common/progress.hpp"
#include "link_sim/report.hpp"
#include "phy/machine/atomic_file.hpp"

namespace phy::apps {

/// Shows the progress of all points in symbols. The total is estimated from the symbols done and their share.
class PointsProgress {
public:
    PointsProgress(std::size_t points, bool quiet)
        : points_(static_cast<double>(points)), progress_(0, quiet) {}

    /// symbols and points: done so far.
    void show(std::uint64_t symbols, double points);

private:
    double points_;
    Progress progress_;
};

std::uint64_t symbols_of(const PointState& state);

/// Where a report goes.
class ReportOutput {
public:
    /// Throws FileError if the file of rows cannot be written.
    ReportOutput(const LinkSimOptions& options, const CommonOptions& common);

    /// Prints the report and writes its rows. Throws Interrupted if it has no point or is not complete.
    void write(const LinkReport& report);

private:
    CommonOptions common_;
    std::optional<AtomicFile> csv_;
};

/// Calls a function that begins the chain. In an ArgumentError of it the estimator's parameters get the names
/// of the program's options.
void with_option_names(const LinkSimOptions& options, const std::function<void()>& begin);

}  // namespace phy::apps
