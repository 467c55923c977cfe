#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "phy/cuda/stream.hpp"

namespace phy::apps::reduce_steps {

/// The sum of elements, at least one. All memory is the device's. No sum of some of them may overflow.
struct Work {
    const std::int32_t* elements = nullptr;
    std::size_t size = 0;
    std::array<std::int32_t*, 2> partial_sums = {};  ///< each of max_partial_sums(size)
    std::int32_t* sum = nullptr;
};

/// How many sums the first launch of a step makes at most.
std::size_t max_partial_sums(std::size_t size);

/// A way of doing the work, in the order in which one comes to them.
struct Step {
    std::string name;
    std::string what;
    int threads = 0;  ///< a block
    void (*launch)(const Work& work, int multiprocessors, cudaStream_t stream);
};

/// The steps before the library's own kernels.
std::vector<Step> all();

}  // namespace phy::apps::reduce_steps
