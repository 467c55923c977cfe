#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/coding/transport_decoder.hpp"

#include <cuda_runtime_api.h>

namespace phy::bench {

/// Transport blocks of a launch. Block b has codeword b modulo `words`.
struct VerdictJob {
    std::size_t blocks = 0;
    std::size_t words = 0;
    std::size_t coded_bits = 0;
    std::size_t payload_bytes = 0;
};

struct VerdictCounts {
    unsigned long long holding;
    unsigned long long wrong;  ///< of these
};

/// Soft bits of real symbols in noise, in sixths of a nat. codewords: one bit per byte.
void receive(const VerdictJob& job, const std::uint8_t* codewords, float n0, std::uint64_t seed,
             std::int8_t* llr, cudaStream_t stream);

/// Adds to the counts.
void compare(const VerdictJob& job, const std::uint8_t* sent, const std::uint8_t* decoded,
             const DecodedBlock* results, VerdictCounts* counts, cudaStream_t stream);

}  // namespace phy::bench
