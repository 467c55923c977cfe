#include "phy/reduce/cuda/reduce_starts.cuh"

namespace phy::gpu::detail {

const RowStarts<phy::detail::BuiltInMinima> minimum_starts = row_starts(phy::detail::BuiltInMinima());

}  // namespace phy::gpu::detail
