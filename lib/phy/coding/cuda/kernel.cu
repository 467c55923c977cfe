#include <algorithm>
#include <cstdint>

#include "phy/coding/cuda/launch.hpp"
#include "phy/coding/decoder_checks.hpp"
#include "phy/coding/math-inl.h"
#include "phy/cuda/device.hpp"
#include "phy/cuda/dispatch.cuh"
#include "phy/cuda/shared_memory.hpp"
#include "phy/cuda/warp.hpp"

#include <cuda_fp16.h>

namespace phy::gpu::detail {
namespace {

using namespace phy::detail;        // NOLINT(google-build-using-namespace)
using namespace phy::detail::cuda;  // NOLINT(google-build-using-namespace)

constexpr unsigned max_threads = max_lifting_size;
constexpr unsigned word = sizeof(std::uint32_t);

/// Where a code block lies in shared memory.
struct Work {
    std::int8_t* posteriors;  ///< bits in order
    std::int8_t* messages;    ///< (edges, size)
    std::uint32_t* edges;
};

__host__ __device__ constexpr unsigned whole_words(unsigned bytes) {
    return (bytes + 4 * word - 1) / (4 * word) * 4 * word;
}

__device__ __forceinline__ float soft_bit(const DecodeJob& job, std::size_t index) {
    float value = 0.0F;
    if (job.format == SoftBitFormat::int8) {
        value = static_cast<float>(max(static_cast<signed char>(job.llr[index]), -127));
    } else if (job.format == SoftBitFormat::float16) {
        unsigned short bits = 0;
        for (unsigned byte = 0; byte < sizeof bits; ++byte)
            bits |= static_cast<unsigned short>(static_cast<unsigned>(job.llr[sizeof bits * index + byte])
                                                << 8 * byte);
        value = __half2float(__ushort_as_half(bits));
    } else {
        unsigned bits = 0;
        for (unsigned byte = 0; byte < sizeof bits; ++byte)
            bits |= static_cast<unsigned>(job.llr[sizeof bits * index + byte]) << 8 * byte;
        value = __uint_as_float(bits);
    }
    return isfinite(value) ? value : 0.0F;
}

/// LLR, in units, of a sum of soft bits.
__device__ __forceinline__ int in_units(const DecodeJob& job, float sum) {
    const float llr = __fmul_rn(isfinite(sum) ? sum : 0.0F, job.units);
    const float limit = max_llr;
    return __float2int_rn(fminf(fmaxf(llr, -limit), limit));
}

/// RateRecovery for the bit at a place of the buffer that is no filler bit.
__device__ __forceinline__ int recovered(const DecodeJob& job, unsigned place, std::size_t first,
                                         unsigned symbols) {
    const RateMatching& matching = job.matching;
    const unsigned usable = matching.usable();
    const unsigned rank =
        place < matching.filler_begin ? place : place - (matching.filler_end - matching.filler_begin);
    const unsigned sent = symbols * matching.bits_per_symbol;
    float sum = 0.0F;
    for (unsigned k = rank < job.first_rank ? rank + usable - job.first_rank : rank - job.first_rank;
         k < sent; k += usable)
        sum = __fadd_rn(sum, soft_bit(job, first + k % symbols * matching.bits_per_symbol + k / symbols));
    return in_units(job, sum);
}

__device__ void load(const DecodeJob& job, std::size_t block, unsigned code_block, const Work& work) {
    const RateMatching& matching = job.matching;
    const unsigned punctured = punctured_columns * job.size;
    const std::size_t first = block * job.coded_bits + matching.bits_before(code_block);
    const unsigned symbols = matching.symbols_of(code_block);
    std::int8_t* const buffer =
        job.soft_buffers == nullptr
            ? nullptr
            : job.soft_buffers + (block * job.code_blocks + code_block) * std::size_t{matching.buffer};
    for (unsigned bit = threadIdx.x; bit < job.plan.bits; bit += blockDim.x) {
        int llr = 0;
        if (bit >= punctured && bit - punctured < matching.buffer) {
            const unsigned place = bit - punctured;
            if (place >= matching.filler_begin && place < matching.filler_end) {
                llr = known_zero;
            } else {
                llr = recovered(job, place, first, symbols);
                if (buffer != nullptr)
                    buffer[place] = static_cast<std::int8_t>(llr = combined(llr, buffer[place]));
            }
        }
        work.posteriors[bit] = static_cast<std::int8_t>(llr);
    }
    for (unsigned i = threadIdx.x; i < job.plan.edge_count; i += blockDim.x)
        work.edges[i] = job.plan.edges[i];
    auto* const words = reinterpret_cast<std::uint32_t*>(work.messages);
    for (unsigned i = threadIdx.x; i < whole_words(job.plan.edge_count * job.size) / word; i += blockDim.x)
        words[i] = 0;
    __syncthreads();
}

/// Where the bit of an edge lies for check z.
__device__ __forceinline__ unsigned place_of(std::uint32_t edge, unsigned z, unsigned size) {
    const unsigned turned = z + (edge & ((1U << shift_bits) - 1));
    return (edge >> shift_bits) + min(turned, turned - size);
}

/// The check of one thread; see check_nodes() of kernels-inl.h.
template <unsigned degree>
__device__ __forceinline__ void check_node(const Work& work, const std::uint32_t* edges,
                                           std::int8_t* messages, unsigned size, unsigned information_bits,
                                           unsigned filler_begin) {
    const unsigned z = threadIdx.x;
    Value inputs[degree];
    Value signs = 0;
    Magnitude least = no_magnitude;
    Magnitude others = no_magnitude;
#pragma unroll
    for (unsigned edge = 0; edge < degree; ++edge) {
        const unsigned place = place_of(edges[edge], z, size);
        inputs[edge] = less(work.posteriors[place], messages[edge * size + z]);
        signs = flipped(signs, inputs[edge]);
        others = box_plus(others, exchange(least, magnitude(inputs[edge])));
    }
    const Magnitude to_least = smaller(others, max_message);
    const Magnitude to_others = smaller(box_plus(others, least), max_message);
#pragma unroll
    for (unsigned edge = 0; edge < degree; ++edge) {
        const Value input = inputs[edge];
        const Value message =
            with_sign(magnitude(input) == least ? to_least : to_others, flipped(signs, input));
        Value posterior = plus(input, message);
        messages[edge * size + z] = static_cast<std::int8_t>(added(posterior, input));
        const unsigned place = place_of(edges[edge], z, size);
        if (place >= filler_begin && place < information_bits) posterior = known_zero;
        work.posteriors[place] = static_cast<std::int8_t>(posterior);
    }
}

/// Calls check_node() for a degree that rows of the base graphs have.
template <typename... Arguments>
__device__ __forceinline__ void check_node_of(unsigned degree, const Arguments&... arguments) {
    switch (degree) {
        case 3:
            return check_node<3>(arguments...);
        case 4:
            return check_node<4>(arguments...);
        case 5:
            return check_node<5>(arguments...);
        case 6:
            return check_node<6>(arguments...);
        case 7:
            return check_node<7>(arguments...);
        case 8:
            return check_node<8>(arguments...);
        case 9:
            return check_node<9>(arguments...);
        case 10:
            return check_node<10>(arguments...);
        default:
            return check_node<max_row_degree>(arguments...);
    }
}

__device__ void iterate(const DecodeJob& job, const Work& work) {
    const std::uint32_t* edges = work.edges;
    std::int8_t* messages = work.messages;
    for (unsigned layer = 0; layer < job.plan.layer_count; ++layer) {
        const unsigned degree = job.plan.degrees[layer];
        if (threadIdx.x < job.size)
            check_node_of(degree, work, edges, messages, job.size, job.information_bits, job.code_block_bits);
        edges += degree;
        messages += degree * job.size;
        __syncthreads();
    }
}

/// Whether the checks of some layers fail; the same in all threads.
__device__ bool fails(const DecodeJob& job, const Work& work, unsigned& first_edge, unsigned first,
                      unsigned last) {
    int signs = 0;
    for (unsigned layer = first; layer < last; ++layer) {
        const unsigned degree = job.plan.degrees[layer];
        int of_layer = 0;
        if (threadIdx.x < job.size)
            for (unsigned edge = 0; edge < degree; ++edge)
                of_layer ^= work.posteriors[place_of(work.edges[first_edge + edge], threadIdx.x, job.size)];
        signs |= of_layer;
        first_edge += degree;
    }
    return __syncthreads_or(signs < 0 ? 1 : 0) != 0;
}

/// A few layers first: before the end, their checks fail.
__device__ bool satisfies(const DecodeJob& job, const Work& work) {
    constexpr unsigned few = 2;
    unsigned edge = 0;
    return !fails(job, work, edge, 0, few) && !fails(job, work, edge, few, job.plan.layer_count);
}

__device__ bool is_decided(const DecodeJob& job, const Work& work) {
    bool has_zero = false;
    for (unsigned bit = threadIdx.x; bit < job.information_bits; bit += blockDim.x)
        has_zero = has_zero || work.posteriors[bit] == 0;
    return __syncthreads_or(has_zero ? 1 : 0) == 0;
}

/// The product of two polynomials modulo that of a CRC.
__device__ std::uint32_t product(std::uint32_t a, std::uint32_t b, const Crc& crc) {
    std::uint32_t result = 0;
    for (int power = crc.length - 1; power >= 0; --power) {
        const std::uint32_t carry = result >> static_cast<unsigned>(crc.length - 1) & 1U;
        result = (result << 1U & ((1U << static_cast<unsigned>(crc.length)) - 1)) ^
                 (carry != 0 ? crc.polynomial : 0U);
        if ((b >> static_cast<unsigned>(power) & 1U) != 0) result ^= a;
    }
    return result;
}

/// What the threads of a code block find out together.
struct Findings {
    std::uint32_t block_crc;
    std::uint32_t data_crc;
    std::uint32_t any_bit;
};

__device__ void unload(const DecodeJob& job, std::size_t block, unsigned code_block, const Work& work,
                       Findings& findings) {
    if (threadIdx.x == 0) findings = {};
    __syncthreads();
    std::uint8_t* const payload = job.payload + block * job.payload_bytes;
    const std::size_t before = std::size_t{code_block} * job.data_bytes;
    std::uint32_t block_crc = 0;
    std::uint32_t data_crc = 0;
    std::uint32_t any_bit = 0;
    for (unsigned byte = threadIdx.x; byte < job.code_block_bits / 8; byte += blockDim.x) {
        unsigned bits = 0;
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned bit = 8 * byte + i;
            if (work.posteriors[bit] >= 0) continue;
            bits |= 0x80U >> i;
            block_crc ^= job.crc.of_block[bit];
            if (byte < job.data_bytes) data_crc ^= job.crc.of_data[bit];
        }
        if (byte >= job.data_bytes) continue;
        any_bit |= bits;
        if (before + byte < job.payload_bytes) payload[before + byte] = static_cast<std::uint8_t>(bits);
    }
    atomicXor(&findings.block_crc, block_crc);
    atomicXor(&findings.data_crc, data_crc);
    atomicOr(&findings.any_bit, any_bit);
    __syncthreads();
}

/// RateRecovery::write_extrinsic() of the host.
__device__ void write_extrinsic(const DecodeJob& job, std::size_t block, unsigned code_block,
                                const Work& work) {
    const RateMatching& matching = job.matching;
    const std::size_t first = block * job.coded_bits + matching.bits_before(code_block);
    const unsigned symbols = matching.symbols_of(code_block);
    for (unsigned i = threadIdx.x; i < symbols * matching.bits_per_symbol; i += blockDim.x) {
        const unsigned selected = i % matching.bits_per_symbol * symbols + i / matching.bits_per_symbol;
        const unsigned place = matching.place_of((job.first_rank + selected) % matching.usable());
        const int known = work.posteriors[punctured_columns * job.size + place];
        const int extrinsic = known - in_units(job, soft_bit(job, first + i));
        job.extrinsic[first + i] = static_cast<std::int8_t>(max(min(extrinsic, 127), -127));
    }
}

/// Bit 31 of DecodedBlock::crc until finish(): some bit of the transport block is 1.
constexpr std::uint32_t has_bits = 0x80000000;

__device__ __forceinline__ bool is_left(const DecodedBlock& result) {
    const volatile std::uint32_t& failed = result.failed_blocks;
    return (failed & is_pending) != 0;
}

/// Marks results of what shall be decoded.
__global__ void begin(const __grid_constant__ DecodeJob job) {
    const std::size_t block = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (block >= job.blocks) return;
    DecodedBlock& result = job.results[block];
    if (!job.only_failed)
        result = {.failed_blocks = is_pending};
    else if (result.crc == 0)
        result = {
            .failed_blocks = is_pending, .iterations = result.iterations, .repeats = result.repeats + 1};
}

__device__ void decode_block(const DecodeJob& job, std::size_t index, const Work& work, Findings& findings) {
    const std::size_t block = index / job.code_blocks;
    const auto code_block = static_cast<unsigned>(index % job.code_blocks);
    if (!is_left(job.results[block])) return;
    load(job, block, code_block, work);
    unsigned done = 0;
    bool is_codeword = false;
    do {
        iterate(job, work);
        ++done;
        if (job.early_end || done == job.iterations)
            is_codeword = satisfies(job, work) && is_decided(job, work);
    } while (!is_codeword && done < job.iterations);
    unload(job, block, code_block, work, findings);
    if (job.extrinsic != nullptr) write_extrinsic(job, block, code_block, work);
    if (threadIdx.x == 0) {
        DecodedBlock& result = job.results[block];
        const std::uint32_t crc =
            product(findings.data_crc, job.crc.of_later_data[code_block], job.crc.polynomial);
        atomicXor(&result.crc, crc);
        if (findings.any_bit != 0) atomicOr(&result.crc, has_bits);
        atomicAdd(&result.iterations, done);
        if (!is_codeword || (job.code_blocks > 1 && findings.block_crc != 0))
            atomicAdd(&result.failed_blocks, 1U);
    }
    __syncthreads();
}

template <bool in_shared_memory>
__global__ void __launch_bounds__(max_threads, 2) decode(const __grid_constant__ DecodeJob job) {
    extern __shared__ uint4 memory[];
    __shared__ Findings findings;
    auto* const bytes = reinterpret_cast<std::int8_t*>(memory);
    Work work{};
    work.posteriors = bytes;
    work.edges = reinterpret_cast<std::uint32_t*>(bytes + whole_words(job.plan.bits));
    const unsigned messages = whole_words(job.plan.edge_count * job.size);
    if constexpr (in_shared_memory)
        work.messages = bytes + whole_words(job.plan.bits) + whole_words(word * job.plan.edge_count);
    else
        work.messages = job.scratch + std::size_t{blockIdx.x} * messages;
    for (std::size_t index = blockIdx.x; index < job.blocks * job.code_blocks; index += gridDim.x)
        decode_block(job, index, work, findings);
}

/// TransportDecoder::Impl::finish() of the host.
__global__ void finish(const __grid_constant__ DecodeJob job) {
    const std::size_t block = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (block >= job.blocks) return;
    DecodedBlock& result = job.results[block];
    if (!is_left(result)) return;
    result.failed_blocks &= ~is_pending;
    const bool is_zero = (result.crc & has_bits) == 0;
    const bool holds = result.crc == has_bits;
    if (!holds && (is_zero || job.code_blocks == 1)) result.failed_blocks = job.code_blocks;
    result.crc = holds && result.failed_blocks == 0 ? 1 : 0;
}

}  // namespace

std::size_t shared_bytes(const DeviceLdpcPlan& plan, std::uint32_t size, bool with_messages) {
    return whole_words(plan.bits) + whole_words(word * plan.edge_count) +
           (with_messages ? whole_words(plan.edge_count * size) : 0);
}

void prepare_decode() {
    load_code_with_shared_memory(decode<true>);
    load_code_with_shared_memory(decode<false>);
    load_code(begin);
    load_code(finish);
}

void launch(const DecodeJob& job, cudaStream_t stream) {
    constexpr unsigned by_block = 128;
    const auto blocks_of_threads = static_cast<unsigned>((job.blocks + by_block - 1) / by_block);
    begin<<<blocks_of_threads, by_block, 0, stream>>>(job);
    check(cudaGetLastError());
    const bool with_messages = job.scratch == nullptr;
    const std::size_t bytes = shared_bytes(job.plan, job.size, with_messages);
    const unsigned threads = (job.size + warp_size - 1) / warp_size * warp_size;
    const std::size_t all = job.blocks * job.code_blocks;
    const auto grid = static_cast<unsigned>(std::min<std::size_t>(all, job.resident_blocks));
    const auto kernel = with_messages ? decode<true> : decode<false>;
    kernel<<<grid, threads, bytes, stream>>>(job);
    check(cudaGetLastError());
    finish<<<blocks_of_threads, by_block, 0, stream>>>(job);
    check(cudaGetLastError());
}

}  // namespace phy::gpu::detail
