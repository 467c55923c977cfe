#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/demapper/counters.hpp"
#include "phy/demapper/math/formula.hpp"

/// The interface between the host's side of the CUDA demapper and its kernels.
namespace phy::gpu::detail {

using phy::detail::Algorithm;
using phy::detail::Constellation;
using phy::detail::Formula;
using phy::detail::Gain;
using phy::detail::GainRule;
using phy::detail::simplest_formula;

/// How symbols become numbers: a SampleFormat as it is, or one of floating point times Job::unit.
enum class Loading : unsigned { cf32, cf16, ci16, ci8, scaled_cf32, scaled_cf16 };

constexpr Loading loading_of(SampleFormat format, bool scales) {
    return static_cast<Loading>(static_cast<unsigned>(format) + (scales ? 4U : 0U));
}
static_assert(loading_of(SampleFormat::ci8, false) == Loading::ci8);
static_assert(loading_of(SampleFormat::cf16, true) == Loading::scaled_cf16);

/// A table in device memory, as LlrTable describes it. int8: an entry is a word with the axis's soft bits in
/// its bytes (1024QAM: two words). Others: the values of its bits, then their slopes.
struct Table {
    phy::detail::TableScale scale;
    const void* entries;
    std::uint32_t bytes;  ///< of all entries, filled up to a multiple of 16
};

/// One call, or one piece of a batch. The less there is to send, the sooner a launch begins; but what decides
/// where a kernel jumps stays a whole word, because bytes of parameters are not read by the uniform path.
struct Job {
    const std::byte* symbols;
    const float* noise;  ///< one N0 a symbol, or null
    std::byte* llr;
    std::uint64_t count;         ///< symbols
    const std::uint32_t* signs;  ///< one bit a soft bit, or null
    union {
        Gain scalar;    ///< without noise
        GainRule gain;  ///< with
    };
    union {
        Gain nats;    ///< Algorithm::log_sum: from nats to the output
        Table table;  ///< Algorithm::table
    };
    float unit;  ///< what integers are multiplied by, and where Loading says so, floating point numbers
    Loading loading;
    unsigned sample_bytes;
    Constellation constellation;
    Formula
        formula;    ///< Algorithm::closed_form: what is enough for the scalar gain; with noise: all segments
    bool rotating;  ///< pi/2-BPSK
    bool odd;       ///< the first symbol's index is odd
    bool aligned;   ///< symbols, llr and noise begin at multiples of 16 bytes
    bool end_aligned;  ///< and end there
};

/// What all jobs of a launch have in common.
struct Common {
    SoftBitFormat format;
    std::uint32_t saturated;  ///< the bits of the largest soft bit
    DemapCounters* counters;  ///< or null
};

/// Jobs travel as a parameter of the kernel, so a batch needs no memory of its own.
inline constexpr std::size_t max_jobs = 64;
inline constexpr std::size_t max_parts = 256;
struct Batch {
    Common common;
    std::uint32_t jobs;

    // By which blocks find their jobs; launch() fills it in. Every job's first block, and for parts of
    // 2^part_shift blocks the job of their first block; after the last part, the last job.
    std::uint32_t blocks;
    std::uint32_t part_shift;
    static_assert(max_jobs <= UINT8_MAX + 1);
    std::uint8_t job_of_part[max_parts + 1];
    std::uint32_t first_block[max_jobs];
    Job job[max_jobs];
};

/// Soft bits that are negated where they lie.
struct Flips {
    struct Call {
        std::byte* llr;
        const std::uint32_t* signs;
        std::uint64_t count;  ///< soft bits
    };
    SoftBitFormat format;
    std::uint32_t calls;
    Call call[max_jobs];
};

/// Starts a kernel on the current device.
void launch_flips(const Flips& flips, cudaStream_t stream);
void load_flips(SoftBitFormat format);

/// Signs are applied in the kernel's stores, or by another kernel after it.
void launch(Algorithm algorithm, const Job& job, const Common& common, const Device& device,
            cudaStream_t stream);
/// Brings the jobs into an order that suits the GPU.
void launch(Algorithm algorithm, Batch& batch, cudaStream_t stream);

/// Load the code for such jobs, or batches of them, on the current device.
void load(Algorithm algorithm, Constellation constellation, SoftBitFormat format);
void load_batch(Algorithm algorithm, SoftBitFormat format);

}  // namespace phy::gpu::detail
