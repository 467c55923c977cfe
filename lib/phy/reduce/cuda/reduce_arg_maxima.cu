#include "phy/reduce/cuda/reduce_starts.cuh"

namespace phy::gpu::detail {

const RowStarts<phy::detail::BuiltInArgMaxima> arg_max_starts = row_starts(phy::detail::BuiltInArgMaxima());

}  // namespace phy::gpu::detail
