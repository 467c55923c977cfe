#include "phy/capture/hdf5/box.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>

namespace phy::hdf5 {

Box largest_box(const Dimensions& dimensions, std::uint64_t first, std::uint64_t count) {
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
