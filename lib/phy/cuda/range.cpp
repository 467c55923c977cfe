#include <nvtx3/nvToolsExt.h>

#include "phy/cuda/range.hpp"

namespace phy::detail {

void push_range(const char* name) {
    nvtxRangePushA(name);
}

void pop_range() {
    nvtxRangePop();
}

}  // namespace phy::detail
