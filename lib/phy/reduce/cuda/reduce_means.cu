#include "phy/reduce/cuda/reduce_starts.cuh"

namespace phy::gpu::detail {

const RowStarts<phy::detail::BuiltInMeans> mean_starts = row_starts(phy::detail::BuiltInMeans());

}  // namespace phy::gpu::detail
