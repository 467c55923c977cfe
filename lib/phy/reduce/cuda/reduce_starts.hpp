#pragma once

#include <array>

#include "phy/reduce/reduce_rows_cuda.hpp"

/// Where the kernels of built-in reductions are compiled: a file for each kind of operator.
namespace phy::gpu::detail {

using RowStart = void (*)(const RowCall& call, cudaStream_t stream);
template <class List>
using RowStarts = std::array<RowStart, List::size>;

extern const RowStarts<phy::detail::BuiltInSums> sum_starts;
extern const RowStarts<phy::detail::BuiltInMeans> mean_starts;
extern const RowStarts<phy::detail::BuiltInMaxima> maximum_starts;
extern const RowStarts<phy::detail::BuiltInMinima> minimum_starts;
extern const RowStarts<phy::detail::BuiltInArgMaxima> arg_max_starts;

}  // namespace phy::gpu::detail
