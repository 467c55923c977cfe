#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/copy_kernel.hpp"
#include "common/json.hpp"
#include "common/median.hpp"
#include "phy/cuda/stream.hpp"

namespace phy::apps {

/// Starts work on a stream.
using Launch = std::function<void(cudaStream_t stream)>;

/// The work as one gpu::Graph.
Launch as_graph(const gpu::Device& device, const Launch& work);

/// Times of two pieces of work that ran in turns.
struct PairedTime {
    double reference_seconds = 0.0;  ///< median
    Quartiles seconds;
    double share = 0.0;  ///< median over neighbours of reference time / work time
};

/// Times reference, work, reference, work ... with events, after one run of each that is not timed.
PairedTime time_paired(const gpu::Device& device, const Launch& reference, const Launch& work, int rounds);

/// Runs all moves with the copy kernel that is fastest for them, measured by this call. All moves must have
/// the same sizes. graph: times and returns the copies as a graph.
Launch fastest_copy(const gpu::Device& device, std::span<const Move> moves, bool graph = false);

/// Time, hardware and software of a measurement, as members of a JSON object.
std::vector<Json::Member> measurement_context(const gpu::Device& device);

}  // namespace phy::apps
