#pragma once

#include <cstddef>

#include "phy/core/backend.hpp"

namespace phy::detail {

struct ScalingKernels {
    /// Of components in binary32, which may lie where they go to; any alignment will do.
    void (*scale)(const void* in, void* out, std::size_t count, float factor);
};

/// Throws BackendError if the backend does not run here or needs device memory.
const ScalingKernels& scaling_kernels(const Backend& backend);

extern const ScalingKernels scalar_scaling_kernels;

}  // namespace phy::detail
