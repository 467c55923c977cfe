#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "common/gpu_timing.hpp"
#include "common/signal.hpp"
#include "phy/cuda/stream.hpp"

namespace phy::apps {

/// What a ladder is climbed with.
struct LadderOptions {
    std::size_t symbols = 0;
    double snr_db = 0.0;
};

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

/// What a step took.
struct Rung {
    std::string name;
    std::string what;
    int threads = 0;
    double seconds = 0.0;
    double of_copy = 0.0;  ///< its share of the speed of what only moves the same bytes
};

/// What only moves a ladder's bytes.
struct Copy {
    std::string name;
    Launch launch;
};

/// What came of a ladder.
struct Climb {
    std::string title;
    std::string copy;
    double copy_seconds = 0.0;
    std::vector<Rung> rungs;
};

/// Checks and times every step, in turns with the copy. check(step) runs after the step and throws if its
/// output is wrong.
Climb climb(const gpu::Device& device, std::string title, const Copy& copy, std::span<const Step> steps,
            const std::function<void(const Step&)>& check);

/// 256QAM, cf32 to int8, from a beginner's kernel to the library's. Throws Error if a step's soft bits differ
/// from the library's by more than one.
Climb climb_demap(const gpu::Device& device, const LadderOptions& options);

/// The same from host memory to host memory: in one piece, on several streams, and by the library's pipeline.
/// Throws Error if a step's soft bits are not the library's.
Climb climb_streams(const gpu::Device& device, const LadderOptions& options);

}  // namespace phy::apps
