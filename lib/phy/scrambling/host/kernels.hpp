#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/backend.hpp"

namespace phy::detail {

struct ScramblingKernels {
    /// Writes `count` words of c after the `before` words that stand in front of `words`. before is at least
    /// 62.
    void (*follow)(std::uint32_t* words, std::size_t before, std::size_t count);

    /// Adds bits of c, as in ArrayKernels::flip, to the lowest bits of bytes; in and out may be the same
    /// array.
    void (*scramble)(const std::uint8_t* in, std::uint8_t* out, std::size_t count, const std::uint32_t* c);
};

/// Throws BackendError if the backend does not run here or needs device memory.
const ScramblingKernels& scrambling_kernels(const Backend& backend);

}  // namespace phy::detail
