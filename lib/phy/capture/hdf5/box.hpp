#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>

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
inline Box largest_box(const Dimensions& dimensions, std::uint64_t first, std::uint64_t count) {
    std::uint64_t row =
        std::accumulate(dimensions.begin(), dimensions.end(), std::uint64_t{1}, std::multiplies<>());
    Box box;
    for (std::size_t i = 0; i < dimensions.size(); ++i) {
        row /= dimensions[i];
        const std::uint64_t index = first / row % dimensions[i];
        box.start.push_back(index);
        box.count.push_back(1);
        if (first % row != 0 || count < row) continue;
        box.count.back() = std::min<hsize_t>(count / row, dimensions[i] - index);
        box.size = box.count.back() * row;
        for (++i; i < dimensions.size(); ++i) {
            box.start.push_back(0);
            box.count.push_back(dimensions[i]);
        }
    }
    return box;
}

}  // namespace phy::hdf5
