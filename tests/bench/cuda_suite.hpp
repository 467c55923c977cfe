#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/gpu_timing.hpp"
#include "phy/phy.hpp"

namespace phy::bench {

using apps::Launch;
using apps::Move;

/// The work of a benchmark, and what it moves.
struct Measurement {
    std::size_t symbols = 0;  ///< per launch
    std::vector<Move> moves;  ///< the bytes of each launch; all have the same sizes
    Launch work;              ///< all launches
    bool graph = false;       ///< short work: measures work and copy in a graph
    Launch read = {};         ///< for work that writes hardly anything: reads the same bytes
};

/// The limit of work whose ratio of bytes in and out no copy kernel has: a copy that moves as many bytes in
/// total, half in and half out. Both arrays of the move must be at least evened_bytes() long.
Move evened(const Move& move);
std::size_t evened_bytes(std::size_t bytes_in, std::size_t bytes_out);

/// Runs benchmarks on a GPU and keeps their results. Each work takes turns with a kernel that only moves the
/// same bytes. It is reported as Gsym/s, GB/s (read and written) and of_copy: the median over neighbours of
/// copy time / work time. For work that only reads, of_read is the same against a read; for work that only
/// writes, of_write against a kernel that only writes.
class Suite {
public:
    struct Options {
        std::string filter;  ///< runs only benchmarks whose names contain it
        bool quick = false;  ///< few symbols and rounds, as a smoke test
    };

    Suite(const gpu::Device& device, Options options);

    [[nodiscard]] const gpu::Device& device() const { return device_; }
    [[nodiscard]] bool quick() const { return options_.quick; }
    [[nodiscard]] bool wants(const std::string& name) const;

    /// Number of symbols that overflows the caches: 2^28, or a smaller power of two if memory is short.
    [[nodiscard]] std::size_t symbols_for(std::size_t bytes_a_symbol) const;

    void record(const std::string& name, const Measurement& measurement);

    /// Keeps a result of another kind, and prints it.
    void keep(const apps::Json& result);

    /// One JSON object, of the form of Google Benchmark's.
    [[nodiscard]] std::string json() const;

private:
    gpu::Device device_;
    Options options_;
    std::vector<apps::Json> results_;
};

/// The benchmarks, by file.
void chain_benchmarks(Suite& suite);
void channel_benchmarks(Suite& suite);
void demapper_benchmarks(Suite& suite);
void equalizer_benchmarks(Suite& suite);
void slot_benchmarks(Suite& suite);
void mapper_benchmarks(Suite& suite);
void measure_benchmarks(Suite& suite);
void fft_benchmarks(Suite& suite);
void ofdm_benchmarks(Suite& suite);
void compression_benchmarks(Suite& suite);
void average_benchmarks(Suite& suite);
void coding_benchmarks(Suite& suite);
void scrambling_benchmarks(Suite& suite);
void receiver_benchmarks(Suite& suite);  ///< only in builds with HDF5

}  // namespace phy::bench
