#pragma once

#include <cstdint>

#include "phy/capture/hdf5/handle.hpp"

namespace phy::hdf5 {

/// Elements that are one hyperslab and also one run in row-major order.
struct Box {
    Dimensions start;
    Dimensions count;
    std::uint64_t size = 0;
};

/// The largest one that begins at element first and has at most count elements. Whoever goes on where it
/// ends needs at most two boxes a dimension: the rest of the rows that are begun, then whole ones, then the
/// last.
Box largest_box(const Dimensions& dimensions, std::uint64_t first, std::uint64_t count);

}  // namespace phy::hdf5
