#pragma once

#include <cstddef>
#include <cstdint>

struct CUstream_st;

namespace phy_test {

/// put_item of items in device memory, on a stream of the current device.
void scramble_on_device(std::uint64_t first, std::size_t items, const std::byte* in, std::byte* out,
                        CUstream_st* stream);

}  // namespace phy_test
