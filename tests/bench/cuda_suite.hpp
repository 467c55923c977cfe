#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/gpu_timing.hpp"
#include "phy/phy_cuda.hpp"

namespace phy::bench {

using apps::Launch;
using apps::Move;

/// What a benchmark does in one go.
struct Measurement {
    std::size_t symbols = 0;  ///< of one launch
    std::vector<Move> moves;  ///< the bytes of each launch; all have the same sizes
    Launch work;              ///< all launches
    bool graph = false;       ///< so short that work and copy are measured in a graph
    Launch read = {};         ///< of work that writes next to nothing: reads the same bytes
};

/// Of work whose ratio of bytes in and out no copy kernel has, the limit is a copy that moves as many in all:
/// half of them in, half of them out. Both arrays of the move have to be at least evened_bytes() long.
Move evened(const Move& move);
std::size_t evened_bytes(std::size_t bytes_in, std::size_t bytes_out);

/// Runs benchmarks on a GPU and keeps their results. Each work takes turns with a kernel that only moves the
/// same bytes, and is reported as Gsym/s, GB/s (read and written) and of_copy: the median, over neighbours,
/// of the copy's time over the work's. Where only reading takes time, of_read is the same against a read;
/// where nothing is read, of_write against a kernel that only writes.
class Suite {
public:
    struct Options {
        std::string filter;  ///< only benchmarks whose names have it
        bool quick = false;  ///< few symbols and rounds: to see that it runs
    };

    Suite(const gpu::Device& device, Options options);

    [[nodiscard]] const gpu::Device& device() const { return device_; }
    [[nodiscard]] bool quick() const { return options_.quick; }
    [[nodiscard]] bool wants(const std::string& name) const;

    /// How many symbols a benchmark handles that shall find nothing in the caches: 2^28 or, where there is no
    /// memory for that, a smaller power of two.
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
void ofdm_benchmarks(Suite& suite);
void compression_benchmarks(Suite& suite);
void average_benchmarks(Suite& suite);
void scrambling_benchmarks(Suite& suite);
void receiver_benchmarks(Suite& suite);  ///< only where phy was built with HDF5

}  // namespace phy::bench
