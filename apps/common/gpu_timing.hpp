#pragma once

#include <functional>
#include <span>
#include <vector>

#include "common/copy_kernel.hpp"
#include "common/json.hpp"
#include "phy/cuda/stream.hpp"

namespace phy::apps {

/// Starts work on a stream.
using Launch = std::function<void(cudaStream_t stream)>;

/// The work as one gpu::Graph.
Launch as_graph(const gpu::Device& device, const Launch& work);

/// What two pieces of work took that were done in turns.
struct PairedTime {
    double reference_seconds = 0.0;  ///< median
    double seconds = 0.0;            ///< median
    double share = 0.0;              ///< median, over neighbours, of the reference's time over the work's
};

/// Times reference, work, reference, work ... with events, once through before that.
PairedTime time_paired(const gpu::Device& device, const Launch& reference, const Launch& work, int rounds);

/// Makes all moves with one of the copy kernels for them: the one that was fastest at it just now. All moves
/// have the same sizes. graph: times and returns the copies as a graph.
Launch fastest_copy(const gpu::Device& device, std::span<const Move> moves, bool graph = false);

/// The time and the hardware and software of a measurement, as members of a JSON object.
std::vector<Json::Member> measurement_context(const gpu::Device& device);

}  // namespace phy::apps
