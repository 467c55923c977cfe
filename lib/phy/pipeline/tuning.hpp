#pragma once

#include <cstddef>
#include <cstdint>

/// The numbers that decide how fast pipelines are, and nothing else.
namespace phy::detail {

struct PipelineTuning {
    std::size_t chunk_bytes;  ///< of all ports of the larger direction, at most
    std::size_t min_bytes;    ///< a smaller chunk costs more than what overlaps saves
    std::size_t lanes;        ///< for each place

    /// Bytes that a link could have moved in the gap between two copies that follow each other; 0: there is
    /// no link.
    std::size_t gap_bytes;
};

/// Of a chunk, input and output stay in a core's cache from step to step.
inline constexpr PipelineTuning host_tuning = {
    .chunk_bytes = std::size_t{2} << 20, .min_bytes = std::size_t{256} << 10, .lanes = 4, .gap_bytes = 0};

/// Of a host with many threads a chunk is larger: shares that are smaller cost more to hand out.
inline constexpr std::size_t chunk_bytes_of_thread = std::size_t{512} << 10;

/// Of an H200 on PCIe 5.0: some 5 us are lost between copies of 50 GB/s.
inline constexpr PipelineTuning cuda_tuning = {.chunk_bytes = std::size_t{16} << 20,
                                               .min_bytes = std::size_t{1} << 20,
                                               .lanes = 4,
                                               .gap_bytes = std::size_t{256} << 10};

/// A device times one chunk of so many: what times a chunk keeps it from overlapping with others.
inline constexpr std::uint64_t timed_one_of = 32;

}  // namespace phy::detail
