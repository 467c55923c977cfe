#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/gpu_timing.hpp"
#include "common/json.hpp"
#include "common/signal.hpp"
#include "phy/cuda/stream.hpp"

namespace phy::apps {

/// What a ladder is climbed with.
struct LadderOptions {
    std::size_t symbols = 0;   ///< where there is something to demap
    double snr_db = 0.0;       ///< of them
    std::size_t elements = 0;  ///< where there is something to sum

    // Where there is something to average, as in AverageShape.
    std::size_t batches = 0;
    std::size_t length = 0;
    std::size_t observations = 0;
};

/// Of LadderOptions::length: the means of a batch wait in shared memory.
inline constexpr std::size_t max_average_length = 4096;

/// What ladders demap; longer inputs repeat it. No piece of them has its length: one in another one's place
/// shows.
inline Signal make_signal(const LadderOptions& options) {
    return {Modulation::qam256, SampleFormat::cf32, options.snr_db,
            std::min(options.symbols, signal_stretch - 3)};
}

/// One way of doing the work of a ladder; the next one is meant to be faster.
struct Step {
    std::string name;
    std::string what;
    int threads = 0;  ///< a block; 0: not known here
    Launch launch;
};

/// What every step of a ladder does.
struct Task {
    std::string title;
    std::size_t count = 0;
    std::string unit;                    ///< what is counted, such as "symbols"
    std::string rate;                    ///< 10^9 of them a second, such as "Gsym/s"
    std::size_t bytes = 0;               ///< read and written
    std::vector<Json::Member> settings;  ///< what else decides how long it takes, or is to be told
    std::string note = {};               ///< the same for people
};

/// What a step took.
struct Rung {
    std::string name;
    std::string what;
    int threads = 0;
    double seconds = 0.0;
    double of_limit = 0.0;  ///< its share of the limit's speed
};

/// What only moves a task's bytes.
struct Limit {
    std::string kind;  ///< "copy", or "read" where next to nothing is written
    std::string name;
    Launch launch;
};

/// What came of a ladder.
struct Climb {
    Task task;
    std::string limit_kind;
    std::string limit;
    double limit_seconds = 0.0;
    std::vector<Rung> rungs;
};

/// That of the ladders that demap.
Task demap_task(std::string_view what, const LadderOptions& options);

/// Checks and times every step, in turns with the limit. check(step) runs after the step and throws if its
/// output is wrong.
Climb climb(const gpu::Device& device, Task task, const Limit& limit, std::span<const Step> steps,
            const std::function<void(const Step&)>& check);

/// 256QAM, cf32 to int8, from a beginner's kernel to the library's. Throws Error if a step's soft bits differ
/// from the library's by more than one.
Climb climb_demap(const gpu::Device& device, const LadderOptions& options);

/// The same from host memory to host memory: in one piece, on several streams, and by the library's pipeline.
/// Throws Error if a step's soft bits are not the library's.
Climb climb_streams(const gpu::Device& device, const LadderOptions& options);

/// The mean of rows and a matrix, in double, from one block to the library's average_matvec(). Times a CPU
/// too. Throws Error if a step's outputs are not those of plain loops on a CPU but for rounding, or the
/// library's not those of the library on a CPU.
Climb climb_average(const gpu::Device& device, const LadderOptions& options);

/// The sum of int32, from interleaved addressing to the library's reduction. Throws Error if a step's sum is
/// not that of the host.
Climb climb_reduce(const gpu::Device& device, const LadderOptions& options);

}  // namespace phy::apps
