#include "phy/reduce/cuda/reduce_starts.cuh"

namespace phy::gpu::detail {

const RowStarts<phy::detail::BuiltInSums> sum_starts = row_starts(phy::detail::BuiltInSums());

}  // namespace phy::gpu::detail
