#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/cuda/warp.hpp"
#include "phy/demapper/counters.hpp"
#include "phy/demapper/math/formula.hpp"

/// The interface between the host side of the CUDA demapper and its kernels.
namespace phy::gpu::detail {

using phy::detail::Algorithm;
using phy::detail::Constellation;
using phy::detail::Formula;
using phy::detail::Gain;
using phy::detail::GainRule;
using phy::detail::simplest_formula;

/// How kernels load symbols: a SampleFormat, or a floating-point one times Job::unit.
enum class Loading : unsigned { cf32, cf16, ci16, ci8, scaled_cf32, scaled_cf16 };

constexpr Loading loading_of(SampleFormat format, bool scales) {
    return static_cast<Loading>(static_cast<unsigned>(format) + (scales ? 4U : 0U));
}
static_assert(loading_of(SampleFormat::ci8, false) == Loading::ci8);
static_assert(loading_of(SampleFormat::cf16, true) == Loading::scaled_cf16);

/// A table in device memory, as LlrTable describes it. int8: an entry is one word with the axis's soft bits
/// as bytes (1024QAM: two words). Other formats: the values of the axis's bits, then their slopes.
struct Table {
    phy::detail::TableScale scale;
    const void* entries;
    std::uint32_t bytes;  ///< of all entries, padded to a multiple of 16
};

/// One call, or one piece of a batch. A launch begins sooner if it has fewer parameters. But fields that
/// decide on jumps are whole words, because the uniform path does not read bytes of parameters.
struct Job {
    const std::byte* symbols;
    const float* noise;  ///< one N0 per symbol, or null
    std::byte* llr;
    std::uint64_t count;         ///< symbols
    const std::uint32_t* signs;  ///< one bit per soft bit, or null
    union {
        Gain scalar;    ///< if noise is null
        GainRule gain;  ///< if noise is not null
    };
    union {
        Gain nats;    ///< Algorithm::log_sum: nats to output
        Table table;  ///< Algorithm::table
    };
    float unit;  ///< factor for integers, and for floating-point numbers if Loading says so
    Loading loading;
    unsigned sample_bytes;
    Constellation constellation;
    /// Algorithm::closed_form: the simplest for the scalar gain, or with noise all segments.
    Formula formula;
    bool rotating;     ///< pi/2-BPSK
    bool odd;          ///< index of the first symbol is odd
    bool aligned;      ///< symbols, llr and noise begin at multiples of 16 bytes
    bool end_aligned;  ///< and also end there
};

/// The common parameters of all jobs of a launch.
struct Common {
    SoftBitFormat format;
    std::uint32_t saturated;  ///< bit pattern of the largest soft bit
    DemapCounters* counters;  ///< null: no counting
};

/// Jobs are a kernel parameter, so a batch needs no memory of its own.
inline constexpr std::size_t max_jobs = 64;
inline constexpr std::size_t max_parts = 256;
struct Batch {
    Common common;
    std::uint32_t jobs;

    // How blocks find their jobs; launch() fills it in: the first block of each job, and for each part of
    // 2^part_shift blocks the job of its first block. The entry after the last part is the last job.
    std::uint32_t blocks;
    std::uint32_t part_shift;
    static_assert(max_jobs <= UINT8_MAX + 1);
    std::uint8_t job_of_part[max_parts + 1];
    std::uint32_t first_block[max_jobs];
    Job job[max_jobs];
};

/// Soft bits to negate in place.
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

/// The kernels of one algorithm.
struct AlgorithmKernels {
    /// flips needs AlgorithmKernels::flips and a launch without counters.
    void (*launch_job)(const Job& job, const Common& common, bool flips, const Device& device,
                       cudaStream_t stream);
    void (*launch_batch)(const Batch& batch, bool flips, cudaStream_t stream);
    Shape (*shape_in_batch)(Constellation constellation, SoftBitFormat format);

    /// Load the code for every job with that constellation and format, or every batch with that format.
    void (*load_job)(Constellation constellation, SoftBitFormat format);
    void (*load_batch)(SoftBitFormat format);

    bool flips;  ///< it can apply signs
};

// Each is defined in its own file.
extern const AlgorithmKernels closed_form_kernels;
extern const AlgorithmKernels log_sum_kernels;
extern const AlgorithmKernels table_kernels;

/// Starts a kernel on the current device.
void launch_flips(const Flips& flips, cudaStream_t stream);
void load_flips(SoftBitFormat format);

/// The kernel applies signs as it stores, or another kernel does after it.
void launch(Algorithm algorithm, const Job& job, const Common& common, const Device& device,
            cudaStream_t stream);
/// Sorts the jobs in an order that suits the GPU.
void launch(Algorithm algorithm, Batch& batch, cudaStream_t stream);

/// Load the code for such jobs, or batches of them, on the current device.
void load(Algorithm algorithm, Constellation constellation, SoftBitFormat format);
void load_batch(Algorithm algorithm, SoftBitFormat format);

}  // namespace phy::gpu::detail
