#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <functional>

namespace phy::bench {

/// Symbols per run of a benchmark, and the bytes read and written for them.
struct Traffic {
    std::size_t symbols;
    std::size_t bytes_in;
    std::size_t bytes_out;
};

/// Number of timed runs of a benchmark. Fixed, so that buffers are made once.
constexpr benchmark::IterationCount rounds_for(std::size_t symbols) {
    return symbols > (1 << 22) ? 9 : 101;
}

/// Times work in turns with a memcpy that moves the same bytes (half of bytes_in + bytes_out from one buffer
/// to another). Reports the median and the quartiles of the times of the work, and the counters Gsym/s, GB/s
/// (read and written) and of_memcpy: the median over neighbours of memcpy time / work time.
void run_paired(benchmark::State& state, const Traffic& traffic, const std::function<void()>& work);

/// The same against other work: the counter `name` is the median of reference time / work time.
void run_paired_with(benchmark::State& state, const Traffic& traffic, const char* name,
                     const std::function<void()>& reference, const std::function<void()>& work);

}  // namespace phy::bench
