#include <cstddef>
#include <cstdint>

#include "phy/cuda/device.hpp"
#include "phy/cuda/pieces.cuh"
#include "phy/cuda/warp.hpp"
#include "phy/scrambling/gold.hpp"
#include "phy/scrambling/gold_sequence.hpp"
#include "phy/scrambling/signs.hpp"

namespace phy::gpu {
namespace detail {
namespace {

using phy::detail::FirstSequence;
using phy::detail::register_mask;
using phy::detail::SecondSequence;

// Tuning: these numbers affect speed only.

constexpr unsigned gold_threads = 128;  ///< per block

/// Neighbouring words of c per lane: more need fewer jumps, fewer let more warps share a codeword.
constexpr unsigned words_of_lane = 8;

struct GoldJob {
    const std::uint32_t* c_init;  ///< one per codeword; null: one_c_init of the only one
    std::uint32_t one_c_init;
    std::uint32_t first_state;        ///< state of the first sequence at the first bit
    std::uint32_t second_polynomial;  ///< moves the second sequence there
    std::uint64_t codewords;          ///< not 0
    std::uint64_t length;             ///< bits per codeword, a multiple of 32; not 0
    std::uint32_t kept;               ///< first bits of all words that stay unchanged, below 32
};

/// A warp makes one unit of a codeword.
constexpr unsigned words_of_unit = words_of_lane * warp_size;
constexpr unsigned bits_of_unit = 32 * words_of_unit;

/// Unit indices are split into digits of 4 bits.
constexpr unsigned unit_digits = 8;

/// X^k of each sequence, to jump over:
template <class Sequence>
struct Jumps {
    std::uint32_t units[unit_digits][16];  ///< n << (4 * digit) units
    std::uint32_t lanes[warp_size];        ///< the words of n lanes
};

template <class Sequence>
constexpr Jumps<Sequence> make_jumps() {
    Jumps<Sequence> jumps{};
    for (unsigned digit = 0; digit < unit_digits; ++digit)
        for (std::uint64_t n = 0; n < 16; ++n)
            jumps.units[digit][n] = phy::detail::power_of_x<Sequence>((n << (4 * digit)) * bits_of_unit);
    for (unsigned lane = 0; lane < warp_size; ++lane)
        jumps.lanes[lane] = phy::detail::power_of_x<Sequence>(std::uint64_t{32} * words_of_lane * lane);
    return jumps;
}

__device__ const Jumps<FirstSequence> first_jumps = make_jumps<FirstSequence>();
__device__ const Jumps<SecondSequence> second_jumps = make_jumps<SecondSequence>();

/// advanced() for a state and a polynomial that all lanes share: each lane makes one bit.
template <class Sequence>
__device__ __forceinline__ std::uint32_t advanced_by_warp(std::uint32_t state, std::uint32_t polynomial,
                                                          unsigned lane) {
    const std::uint64_t bits = phy::detail::extended<Sequence>(state);
    const auto mine = static_cast<std::uint32_t>(bits >> lane) & polynomial;
    return __ballot_sync(all_lanes, (__popc(mine) & 1) != 0) & register_mask;
}

template <class Sequence>
__device__ __forceinline__ std::uint32_t at_unit(const Jumps<Sequence>& jumps, std::uint32_t state,
                                                 std::uint32_t unit, unsigned lane) {
#pragma unroll 1
    for (unsigned digit = 0; unit >> (4 * digit) != 0; ++digit) {
        state = advanced_by_warp<Sequence>(state, jumps.units[digit][unit >> (4 * digit) & 15U], lane);
        if (digit + 1 == unit_digits) break;
    }
    return state;
}

/// The lane's words of a unit of a codeword.
__device__ __forceinline__ void make_words(const GoldJob& job, std::uint64_t codeword, std::uint32_t unit,
                                           unsigned lane, std::uint32_t* words) {
    const std::uint32_t c_init = job.c_init == nullptr ? job.one_c_init : job.c_init[codeword];
    const std::uint32_t second_state =
        advanced_by_warp<SecondSequence>(c_init & register_mask, job.second_polynomial, lane);
    const std::uint32_t first_of_unit = at_unit(first_jumps, job.first_state, unit, lane);
    const std::uint32_t second_of_unit = at_unit(second_jumps, second_state, unit, lane);
    std::uint64_t first = phy::detail::extended<FirstSequence>(
        phy::detail::advanced<FirstSequence>(first_of_unit, first_jumps.lanes[lane]));
    std::uint64_t second = phy::detail::extended<SecondSequence>(
        phy::detail::advanced<SecondSequence>(second_of_unit, second_jumps.lanes[lane]));
#pragma unroll
    for (unsigned w = 0; w < words_of_lane; ++w) {
        words[w] = static_cast<std::uint32_t>(first ^ second);
        first = phy::detail::next_word<FirstSequence>(first);
        second = phy::detail::next_word<SecondSequence>(second);
    }
}

constexpr unsigned warps_of_block = gold_threads / warp_size;

/// The unit of a warp.
struct Unit {
    std::uint64_t codeword;
    std::uint32_t index;  ///< in the codeword
    std::uint64_t begin;  ///< its first bit, counted over all codewords
    unsigned count;       ///< bits
};

__host__ __device__ constexpr std::uint64_t units_of_codeword(const GoldJob& job) {
    return (job.length + bits_of_unit - 1) / bits_of_unit;
}

/// Returns false if no unit is left for the warp.
__device__ __forceinline__ bool find_unit(const GoldJob& job, Unit& unit) {
    const std::uint64_t warp = std::uint64_t{blockIdx.x} * warps_of_block + threadIdx.x / warp_size;
    const std::uint64_t of_codeword = units_of_codeword(job);
    unit.codeword = warp / of_codeword;
    if (unit.codeword >= job.codewords) return false;
    unit.index = static_cast<std::uint32_t>(warp - unit.codeword * of_codeword);
    const std::uint64_t in_codeword = std::uint64_t{unit.index} * bits_of_unit;
    const std::uint64_t left = job.length - in_codeword;
    unit.begin = unit.codeword * job.length + in_codeword;
    unit.count = left < bits_of_unit ? static_cast<unsigned>(left) : bits_of_unit;
    return true;
}

/// Makes the words of a warp's unit, and shares them with all its lanes.
__device__ __forceinline__ void share_words(const GoldJob& job, const Unit& unit, unsigned lane,
                                            std::uint32_t* shared) {
    std::uint32_t words[words_of_lane];
    make_words(job, unit.codeword, unit.index, lane, words);
    store_words<words_of_lane>(words, reinterpret_cast<std::byte*>(shared + lane * words_of_lane));
    __syncwarp();
}

__global__ void __launch_bounds__(gold_threads)
    write_words(const __grid_constant__ GoldJob job, std::uint32_t* out) {
    __shared__ alignas(16) std::uint32_t of_block[warps_of_block][words_of_unit];
    const unsigned lane = threadIdx.x % warp_size;
    std::uint32_t* const words = of_block[threadIdx.x / warp_size];
    Unit unit;
    if (!find_unit(job, unit)) return;
    share_words(job, unit, lane, words);
    if (job.kept != 0 && unit.begin == 0 && lane == 0) {
        const std::uint32_t kept = (1U << job.kept) - 1;
        words[0] = (words[0] & ~kept) | (out[0] & kept);
    }
    for (unsigned i = lane; i < unit.count / 32; i += warp_size)
        out[unit.begin / 32 + i] = words[i];
}

/// The c_init of a call: an array in device memory, or one number on the host.
struct Beginnings {
    explicit Beginnings(DeviceSpan<const std::uint32_t> each) : array(each.data()), codewords(each.size()) {}
    explicit Beginnings(std::uint32_t number) : one(number), codewords(1) {
        phy::detail::check_c_init(number);
    }

    const std::uint32_t* array = nullptr;
    std::uint32_t one = 0;
    std::size_t codewords;
};

void start(const Device& device, const Beginnings& c_init, std::uint64_t first,
           DeviceSpan<std::uint32_t> words, cudaStream_t stream, std::uint32_t kept = 0) {
    using phy::detail::power_of_x;
    phy::detail::check_codewords("words", words.size(), c_init.codewords);
    if (words.empty()) return;
    const std::uint64_t steps = phy::detail::steps_to(first);
    const GoldJob job = {.c_init = c_init.array,
                         .one_c_init = c_init.one,
                         .first_state = phy::detail::advanced<FirstSequence>(
                             FirstSequence::start, power_of_x<FirstSequence>(steps)),
                         .second_polynomial = power_of_x<SecondSequence>(steps),
                         .codewords = c_init.codewords,
                         .length = 32 * words.size() / c_init.codewords,
                         .kept = kept};
    const std::uint64_t warps = units_of_codeword(job) * job.codewords;
    const auto blocks = static_cast<unsigned>((warps + warps_of_block - 1) / warps_of_block);
    const CurrentDevice current(device);
    write_words<<<blocks, gold_threads, 0, stream>>>(job, words.data());
    check(cudaGetLastError());
}

}  // namespace
}  // namespace detail

void gold_sequence(const Device& device, DeviceSpan<const std::uint32_t> c_init, std::uint64_t first,
                   DeviceSpan<std::uint32_t> words, cudaStream_t stream) {
    detail::start(device, detail::Beginnings(c_init), first, words, stream);
}

void gold_sequence(const Device& device, std::uint32_t c_init, std::uint64_t first,
                   DeviceSpan<std::uint32_t> words, cudaStream_t stream) {
    detail::start(device, detail::Beginnings(c_init), first, words, stream);
}

}  // namespace phy::gpu

void phy::detail::write_signs(const gpu::Device& device, std::uint32_t c_init, const SignBits& bits,
                              gpu::DeviceSpan<std::uint32_t> signs, cudaStream_t stream) {
    gpu::detail::start(device, gpu::detail::Beginnings(c_init), bits.first_of_words(),
                       signs.subspan(bits.first_word(), bits.words()), stream,
                       static_cast<std::uint32_t>(bits.begin % 32));
}
