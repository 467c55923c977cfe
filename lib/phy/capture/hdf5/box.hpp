#pragma once

#include <cstdint>

#include "phy/capture/hdf5/handle.hpp"

namespace phy::hdf5 {

/// Elements that form one hyperslab and are contiguous in row-major order.
struct Box {
    Dimensions start;
    Dimensions count;
    std::uint64_t size = 0;
};

/// The largest box that begins at element first and has at most count elements. Repeating this from its end
/// takes at most two boxes per dimension: the rest of partial rows, then whole rows, then the last.
Box largest_box(const Dimensions& dimensions, std::uint64_t first, std::uint64_t count);

}  // namespace phy::hdf5
