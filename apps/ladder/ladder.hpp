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
#include "common/median.hpp"
#include "common/signal.hpp"
#include "phy/cuda/stream.hpp"

namespace phy::apps {

/// Options of a ladder.
struct LadderOptions {
    std::size_t symbols = 0;   ///< for ladders that demap
    double snr_db = 0.0;       ///< of the symbols, in dB
    std::size_t elements = 0;  ///< for ladders that sum

    // For ladders that average, as in AverageShape.
    std::size_t batches = 0;
    std::size_t length = 0;
    std::size_t observations = 0;
};

/// Max LadderOptions::length: the means of a batch are in shared memory.
inline constexpr std::size_t max_average_length = 4096;

/// The symbols that ladders demap; longer inputs repeat them. No piece has the length of a repetition, so a
/// misplaced piece shows.
inline Signal make_signal(const LadderOptions& options) {
    return {Modulation::qam256, SampleFormat::cf32, options.snr_db,
            std::min(options.symbols, signal_stretch - 3)};
}

/// One implementation of a ladder's work; the next one should be faster.
struct Step {
    std::string name;
    std::string what;
    int threads = 0;  ///< per block; 0: unknown
    Launch launch;
};

/// The work of every step of a ladder.
struct Task {
    std::string title;
    std::size_t count = 0;
    std::string unit;                    ///< unit of the count, such as "symbols"
    std::string rate;                    ///< unit of 10^9 per second, such as "Gsymbol/s"
    std::size_t bytes = 0;               ///< read and written
    std::vector<Json::Member> settings;  ///< further settings for the report
    std::string note = {};               ///< the same for people
};

/// The time of a step.
struct Rung {
    std::string name;
    std::string what;
    int threads = 0;
    Quartiles seconds;
    double of_limit = 0.0;  ///< share of the limit's speed
};

/// Work that only moves a task's bytes.
struct Limit {
    std::string kind;  ///< "copy", or "read" if hardly anything is written
    std::string name;
    Launch launch;
};

/// The result of a ladder.
struct Climb {
    Task task;
    std::string limit_kind;
    std::string limit;
    double limit_seconds = 0.0;
    std::vector<Rung> rungs;
};

/// The task of ladders that demap.
Task demap_task(std::string_view what, const LadderOptions& options);

/// Checks every step and times it in turns with the limit. check(step) runs after the step and throws if its
/// output is wrong.
Climb climb(const gpu::Device& device, Task task, const Limit& limit, std::span<const Step> steps,
            const std::function<void(const Step&)>& check);

/// 256QAM, cf32 to int8, from a beginner's kernel to the library's. Throws Error if a step's soft bits differ
/// from the library's by more than one.
Climb climb_demap(const gpu::Device& device, const LadderOptions& options);

/// The same from host memory to host memory: in one piece, on several streams, and by the library's pipeline.
/// Throws Error if a step's soft bits differ from the library's.
Climb climb_streams(const gpu::Device& device, const LadderOptions& options);

/// Means of rows times a matrix, in double, from one block to the library's average_matvec(). Also times a
/// CPU. Throws Error if a step's output differs from plain loops on a CPU by more than rounding, or if the
/// library's bytes differ from the library's on a CPU.
Climb climb_average(const gpu::Device& device, const LadderOptions& options);

/// The sum of int32, from interleaved addressing to the library's reduction. Throws Error if a step's sum
/// differs from the host's.
Climb climb_reduce(const gpu::Device& device, const LadderOptions& options);

}  // namespace phy::apps
