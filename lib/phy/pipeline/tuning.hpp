#pragma once

#include <cstddef>
#include <cstdint>

/// Tuning of pipelines: these numbers affect speed only.
namespace phy::detail {

struct PipelineTuning {
    std::size_t chunk_bytes;  ///< max, over all ports of the larger direction
    std::size_t min_bytes;    ///< below this a chunk costs more than overlap saves
    std::size_t buffer_sets;  ///< per place

    /// Bytes that the link could move in the gap between two successive copies; 0: no link.
    std::size_t gap_bytes;
};

/// Input and output of a chunk stay in a core's cache from step to step.
inline constexpr PipelineTuning host_tuning = {.chunk_bytes = std::size_t{2} << 20,
                                               .min_bytes = std::size_t{256} << 10,
                                               .buffer_sets = 4,
                                               .gap_bytes = 0};

/// Hosts with many threads use larger chunks, because small shares cost more to distribute.
inline constexpr std::size_t chunk_bytes_of_thread = std::size_t{512} << 10;

/// For an H200 on PCIe 5.0: about 5 us are lost between copies at 50 GB/s.
inline constexpr PipelineTuning cuda_tuning = {.chunk_bytes = std::size_t{16} << 20,
                                               .min_bytes = std::size_t{1} << 20,
                                               .buffer_sets = 4,
                                               .gap_bytes = std::size_t{256} << 10};

/// A device times one chunk in this many, because a timed chunk does not overlap with others.
inline constexpr std::uint64_t timed_one_of = 32;

}  // namespace phy::detail
