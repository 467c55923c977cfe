#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "phy/cuda/stream.hpp"

namespace phy::apps::demap_steps {

/// 256QAM, cf32 to int8, exact max-log, one N0. All memory is the device's.
struct Work {
    const std::complex<float>* symbols = nullptr;
    std::size_t size = 0;
    const float* noise = nullptr;  ///< N0
    float llr_scale = 0.0F;
    int llr_clip = 0;
    std::int8_t* llr = nullptr;  ///< 8 a symbol

    /// The soft bits of an axis, b0, b2, b4, b6 on I, lowest byte first, at table_entries equal steps of the
    /// axis from -table_reach to +table_reach.
    const std::uint32_t* table = nullptr;
    float table_reach = 0.0F;
};

inline constexpr int table_entries = 4096;

/// What the table holds.
std::vector<std::uint32_t> make_table(double reach, double noise_variance, double llr_scale, int llr_clip);

/// A way of doing the work, in the order in which one comes to them.
struct Step {
    std::string name;
    std::string what;
    int threads = 0;  ///< a block
    void (*launch)(const Work& work, int threads, int multiprocessors, cudaStream_t stream);
};

/// The steps before the library's own kernel.
std::vector<Step> all(const gpu::Device& device);

/// Starts the search for the largest difference of two outputs, which is put in device memory.
void find_largest_difference(const std::int8_t* a, const std::int8_t* b, std::size_t size, int* difference,
                             cudaStream_t stream);

}  // namespace phy::apps::demap_steps
