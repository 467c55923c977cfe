#pragma once

#include "phy/reduce/cuda/reduce_starts.hpp"
#include "phy/reduce/reduce_rows_cuda.cuh"

namespace phy::gpu::detail {

template <class... Ops>
constexpr RowStarts<phy::detail::TypeList<Ops...>> row_starts(phy::detail::TypeList<Ops...>) {
    return {&RowKernels<Ops>::start...};
}

}  // namespace phy::gpu::detail
