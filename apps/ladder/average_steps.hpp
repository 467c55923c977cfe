#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "phy/cuda/stream.hpp"

namespace phy::apps::average_steps {

/// The mean of each row of in, (batches, length, observations), then for each batch matrix, (length, length),
/// times the means. All memory is device memory.
struct Work {
    const double* in = nullptr;
    const double* matrix = nullptr;
    double* out = nullptr;
    std::size_t batches = 0;
    std::size_t length = 0;  ///< at most max_average_length
    std::size_t observations = 0;
};

/// One implementation of the work; steps are in the order of learning.
struct Step {
    std::string name;
    std::string what;
    int threads = 0;  ///< per block
    void (*launch)(const Work& work, cudaStream_t stream);
};

/// The steps before the library's own kernels.
std::vector<Step> all();

}  // namespace phy::apps::average_steps
