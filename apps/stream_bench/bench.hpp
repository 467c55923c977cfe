#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/median.hpp"
#include "common/progress.hpp"
#include "phy/phy.hpp"
#include "stream_bench/grid.hpp"
#include "stream_bench/limit.hpp"

namespace phy::apps {

/// The result of a combination.
struct StreamRow {
    Combination combination;
    std::vector<Place> places;
    std::size_t streams = 0;  ///< per device
    std::uint64_t chunks = 0;
    std::size_t largest_chunk = 0;  ///< symbols
    std::size_t bytes_in = 0;
    std::size_t bytes_out = 0;

    Quartiles seconds;
    double limit_seconds = 0.0;              ///< median
    double serial_seconds = 0.0;             ///< median, with one chunk after another and no overlap
    double of_limit = 0.0;                   ///< median over neighbours of limit time / pipeline time
    double of_serial = 0.0;                  ///< the same of the serial time
    std::vector<PipelineReport::Busy> busy;  ///< of the last round
};

/// Times pipelines from memory to memory.
class StreamBench {
public:
    struct Config {
        Modulation modulation = Modulation::qam256;
        std::vector<Place> places;
        int rounds = 1;  ///< timed rounds, after one that is not timed
    };

    /// Makes each combination's pipeline once, so that sizes that do not fit are refused before any
    /// measurement. Throws ArgumentError, which names the option.
    static void try_pipelines(const Config& config, const std::vector<Combination>& all);

    /// The total that measure() passes to advance() of the progress, over the combinations.
    static std::uint64_t work(const Config& config, const std::vector<Combination>& all);

    /// Allocates memory for all combinations.
    StreamBench(const Config& config, const std::vector<Combination>& all);

    /// Checks the output of the pipeline, and times it in turns with the limit and the serial pipeline.
    /// Throws Error if soft bits are wrong.
    StreamRow measure(const Combination& combination, Progress& progress);

    /// Describes the limit.
    [[nodiscard]] std::string limit() const { return limit_->description(); }

private:
    void use(const Formats& formats);

    Config config_;
    std::unique_ptr<Limit> limit_;
    std::uint64_t max_symbols_ = 0;
    std::optional<Formats> formats_;
    std::optional<SoftDemapStage> stage_;  ///< for formats_, those of the current input
};

}  // namespace phy::apps
