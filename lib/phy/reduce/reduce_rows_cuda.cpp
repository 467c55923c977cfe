#include <algorithm>

#include "phy/reduce/reduce_rows_cuda.hpp"

namespace phy::gpu::detail {
namespace {

/// In the order of BuiltInReductions.
constexpr std::size_t reductions = phy::detail::BuiltInReductions::size;
std::array<RowStart, reductions> all_starts() {
    std::array<RowStart, reductions> all{};
    auto next = all.begin();
    const auto append = [&](const auto& starts) { next = std::copy(starts.begin(), starts.end(), next); };
    append(row_starts<phy::detail::BuiltInSums>());
    append(row_starts<phy::detail::BuiltInMeans>());
    append(row_starts<phy::detail::BuiltInMaxima>());
    append(row_starts<phy::detail::BuiltInMinima>());
    append(row_starts<phy::detail::BuiltInArgMaxima>());
    return all;
}

}  // namespace

// The only place for numbers that decide how fast reductions are; more of them are in block.cuh: the
// loads that a thread has in flight.
RowTuning row_tuning(std::uint64_t rows, std::uint64_t length, int multiprocessors) {
    // So many units a multiprocessor that the last ones do not leave most of them idle.
    constexpr std::uint64_t units_of_multiprocessor = 256;
    // A row of fewer elements is over before wide loads have paid for the longer way of their lanes to a
    // root.
    constexpr std::uint64_t min_wide_length = 512;
    const std::uint64_t wanted = units_of_multiprocessor * static_cast<std::uint64_t>(multiprocessors);
    return {.threads = 128,
            .join_threads = 256,
            .level = phy::detail::level_of_units(rows, length, row_tree.block, max_row_level, wanted),
            .wide = length >= min_wide_length,
            .max_blocks = UINT64_MAX};
}

void start_built_in(std::size_t index, const RowCall& call, cudaStream_t stream) {
    static const auto starts = all_starts();
    starts[index](call, stream);
}

}  // namespace phy::gpu::detail
