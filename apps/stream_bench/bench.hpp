#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/progress.hpp"
#include "phy/phy.hpp"
#include "stream_bench/grid.hpp"
#include "stream_bench/limit.hpp"

namespace phy::apps {

/// What came of a combination.
struct StreamRow {
    Combination combination;
    std::vector<Place> places;
    std::size_t streams = 0;  ///< for each device
    std::uint64_t chunks = 0;
    std::size_t largest_chunk = 0;  ///< symbols
    std::size_t bytes_in = 0;
    std::size_t bytes_out = 0;

    double seconds = 0.0;         ///< median
    double limit_seconds = 0.0;   ///< median
    double serial_seconds = 0.0;  ///< median: one chunk after another, nothing overlaps
    double of_limit = 0.0;        ///< median, over neighbours, of the limit's time over the pipeline's
    double of_serial = 0.0;       ///< the same of the serial time
    std::vector<PipelineReport::Busy> busy;  ///< of the last round
};

/// Times pipelines from memory to memory.
class StreamBench {
public:
    struct Config {
        Modulation modulation = Modulation::qam256;
        std::vector<Place> places;
        int rounds = 1;  ///< that are counted, after one that is not
    };

    /// Makes each combination's pipeline once, so that what does not fit is refused before anything is
    /// measured: ArgumentError that names the option.
    static void try_pipelines(const Config& config, const std::vector<Combination>& all);

    /// What advance() of the progress is called with in all for the combinations.
    static std::uint64_t work(const Config& config, const std::vector<Combination>& all);

    /// Allocates memory for all combinations.
    StreamBench(const Config& config, const std::vector<Combination>& all);

    /// Checks what the pipeline gives, and takes its time in turns with the limit and the serial pipeline.
    /// Throws Error if soft bits are wrong.
    StreamRow measure(const Combination& combination, Progress& progress);

    /// What the limit does.
    [[nodiscard]] std::string limit() const { return limit_->description(); }

private:
    void use(const Formats& formats);

    Config config_;
    std::unique_ptr<Limit> limit_;
    std::uint64_t max_symbols_ = 0;
    std::optional<Formats> formats_;
    std::optional<SoftDemapStage> stage_;  ///< for formats_, of which the input is full
};

}  // namespace phy::apps
