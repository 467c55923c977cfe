#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <functional>

namespace phy::bench {

/// What a benchmark handles each time: symbols, and the bytes that are read and written for them.
struct Traffic {
    std::size_t symbols;
    std::size_t bytes_in;
    std::size_t bytes_out;
};

/// How often a benchmark is timed. Fixed, so that its buffers are made once.
constexpr benchmark::IterationCount rounds_for(std::size_t symbols) {
    return symbols > (1 << 22) ? 9 : 101;
}

/// Times work, and beside each timing a memcpy that moves the same bytes (half of bytes_in + bytes_out from
/// one buffer to another). Reports the median of the work's time as the benchmark's time, and as counters
/// Gsym/s, GB/s (read and written) and of_memcpy: the median, over neighbouring timings, of the memcpy's time
/// divided by the work's.
void run_paired(benchmark::State& state, const Traffic& traffic, const std::function<void()>& work);

/// The same against another piece of work: the counter `name` is the median of the reference's time over the
/// work's.
void run_paired_with(benchmark::State& state, const Traffic& traffic, const char* name,
                     const std::function<void()>& reference, const std::function<void()>& work);

}  // namespace phy::bench
