#include "bench/decoder_verdicts_kernels.hpp"

namespace phy::bench {
namespace {

constexpr unsigned threads = 256;

unsigned blocks_for(std::size_t items) {
    return static_cast<unsigned>((items + threads - 1) / threads);
}

/// SplitMix64.
__device__ std::uint64_t mixed(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return x ^ x >> 31;
}

__global__ void receive_bit(VerdictJob job, const std::uint8_t* codewords, float n0, std::uint64_t seed,
                            std::int8_t* llr) {
    const std::size_t index = std::size_t{blockIdx.x} * threads + threadIdx.x;
    if (index >= job.blocks * job.coded_bits) return;
    const std::uint64_t random = mixed(seed ^ mixed(index));
    const float u = (static_cast<float>(random >> 40U) + 0.5F) * 0x1p-24F;
    const float v = static_cast<float>(random & 0xFFFFFF) * 0x1p-24F;
    const float noise = sqrtf(-n0 * logf(u)) * cospif(2.0F * v);
    const bool bit =
        codewords[index / job.coded_bits % job.words * job.coded_bits + index % job.coded_bits] != 0;
    const float value = 6.0F * 4.0F / n0 * ((bit ? -1.0F : 1.0F) + noise);
    llr[index] = static_cast<std::int8_t>(__float2int_rn(fminf(fmaxf(value, -127.0F), 127.0F)));
}

__global__ void compare_block(VerdictJob job, const std::uint8_t* sent, const std::uint8_t* decoded,
                              const DecodedBlock* results, VerdictCounts* counts) {
    const std::size_t block = std::size_t{blockIdx.x} * threads + threadIdx.x;
    if (block >= job.blocks || results[block].crc == 0) return;
    atomicAdd(&counts->holding, 1ULL);
    for (std::size_t byte = 0; byte < job.payload_bytes; ++byte) {
        if (decoded[block * job.payload_bytes + byte] == sent[block % job.words * job.payload_bytes + byte])
            continue;
        atomicAdd(&counts->wrong, 1ULL);
        return;
    }
}

}  // namespace

void receive(const VerdictJob& job, const std::uint8_t* codewords, float n0, std::uint64_t seed,
             std::int8_t* llr, cudaStream_t stream) {
    receive_bit<<<blocks_for(job.blocks * job.coded_bits), threads, 0, stream>>>(job, codewords, n0, seed,
                                                                                 llr);
}

void compare(const VerdictJob& job, const std::uint8_t* sent, const std::uint8_t* decoded,
             const DecodedBlock* results, VerdictCounts* counts, cudaStream_t stream) {
    compare_block<<<blocks_for(job.blocks), threads, 0, stream>>>(job, sent, decoded, results, counts);
}

}  // namespace phy::bench
