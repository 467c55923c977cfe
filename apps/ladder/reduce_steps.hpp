#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "phy/cuda/stream.hpp"

namespace phy::apps::reduce_steps {

/// The sum of at least one element. All memory is device memory. No partial sum may overflow.
struct Work {
    const std::int32_t* elements = nullptr;
    std::size_t size = 0;
    std::array<std::int32_t*, 2> partial_sums = {};  ///< each of max_partial_sums(size)
    std::int32_t* sum = nullptr;
};

/// Max number of sums that the first launch of a step makes.
std::size_t max_partial_sums(std::size_t size);

/// One implementation of the work; steps are in the order of learning.
struct Step {
    std::string name;
    std::string what;
    int threads = 0;  ///< per block
    void (*launch)(const Work& work, int multiprocessors, cudaStream_t stream);
};

/// The steps before the library's own kernels.
std::vector<Step> all();

}  // namespace phy::apps::reduce_steps
