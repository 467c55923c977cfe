#include <algorithm>

#include "phy/reduce/reduce_rows.hpp"

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

// Tuning. The number of loads in flight per thread is in block.cuh.
RowTuning row_tuning(std::uint64_t rows, std::uint64_t length, int multiprocessors) {
    // Units per multiprocessor: enough that few multiprocessors are idle at the end.
    constexpr std::uint64_t units_of_multiprocessor = 256;
    // In shorter rows the gain of wide loads is less than the cost of the longer way from their lanes to the
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
