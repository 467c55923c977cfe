#pragma once

#include <cstddef>
#include <string>

#include "phy/core/error.hpp"
#include "phy/core/integers.hpp"
#include "phy/cuda/span.hpp"

namespace phy::gpu::detail {

/// The workspace of a call as elements, of which it needs so many bytes. Throws ArgumentError if it is too
/// small, or does not begin at a multiple of 256 bytes, as every DeviceBuffer does. Null if none is needed.
template <typename T>
T* checked_workspace(DeviceSpan<std::byte> workspace, std::size_t bytes) {
    constexpr std::size_t alignment = 256;
    if (bytes == 0) return nullptr;
    if (workspace.size() < bytes)
        throw ArgumentError("workspace has " + std::to_string(workspace.size()) +
                            " bytes: expected at least " + std::to_string(bytes));
    if (!phy::detail::is_aligned(workspace.data(), alignment))
        throw ArgumentError("workspace: expected to begin at a multiple of " + std::to_string(alignment) +
                            " bytes");
    return reinterpret_cast<T*>(workspace.data());
}

}  // namespace phy::gpu::detail
