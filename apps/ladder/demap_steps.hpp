#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "phy/cuda/stream.hpp"

namespace phy::apps::demap_steps {

/// 256QAM, cf32 to int8, exact max-log, one N0. All memory is device memory.
struct Work {
    const std::complex<float>* symbols = nullptr;
    std::size_t size = 0;
    const float* noise = nullptr;  ///< N0
    float llr_scale = 0.0F;
    int llr_clip = 0;
    std::int8_t* llr = nullptr;  ///< 8 per symbol

    /// The soft bits of an axis (on I: b0, b2, b4, b6, lowest byte first) at table_entries equal steps from
    /// -table_reach to +table_reach.
    const std::uint32_t* table = nullptr;
    float table_reach = 0.0F;
};

inline constexpr int table_entries = 4096;

/// The content of the table.
std::vector<std::uint32_t> make_table(double reach, double noise_variance, double llr_scale, int llr_clip);

/// One implementation of the work; steps are in the order of learning.
struct Step {
    std::string name;
    std::string what;
    int threads = 0;  ///< per block
    void (*launch)(const Work& work, int threads, int multiprocessors, cudaStream_t stream);
};

/// The steps before the library's own kernel.
std::vector<Step> all(const gpu::Device& device);

/// Starts a kernel that writes the largest difference of two outputs to device memory.
void find_largest_difference(const std::int8_t* a, const std::int8_t* b, std::size_t size, int* difference,
                             cudaStream_t stream);

}  // namespace phy::apps::demap_steps
