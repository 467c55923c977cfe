#include "phy/reduce/cuda/reduce_starts.cuh"

namespace phy::gpu::detail {

const RowStarts<phy::detail::BuiltInMaxima> maximum_starts = row_starts(phy::detail::BuiltInMaxima());

}  // namespace phy::gpu::detail
