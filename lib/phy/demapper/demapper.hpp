#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/demapper_config.hpp"
#include "phy/core/export.hpp"
#include "phy/core/noise_variance.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/demapper/counters.hpp"
#include "phy/machine/host.hpp"

/// Soft demapping of the constellations of TS 38.211 clause 5.1.
///
/// A soft bit is the log-likelihood ratio L = ln P(b=0)/P(b=1) in nats: positive means bit 0. N0 is the
/// variance of the complex noise, E|n|^2, on symbols of unit mean power. Soft bits are symbol-major: b0 ...
/// b(Qm-1) of the first symbol, then of the second.
///
/// For the same input, every backend, number of threads, alignment and split into calls gives the same bytes.
namespace phy {

/// Turns symbols into soft bits.
///
/// Accuracy, against a float64 evaluation at SNRs from 0 to 40 dB. Max-log, arithmetic: int8 within 1 (and
/// different in fewer than 1 in 100,000 soft bits), fp32 within 1e-5 of the largest LLR of the axis, fp16 is
/// that value rounded. Tables, and log-MAP with either evaluator: int8 within 1; fp16 and fp32 within 0.01
/// nat (fp16: or its rounding).
///
/// Evaluators. Evaluator::automatic uses a table for log-MAP with scalar N0, and arithmetic otherwise. A
/// table serves one N0: a call with another scalar N0 builds a table (up to some tens of milliseconds).
/// Arithmetic replaces the table for per-symbol N0, and if N0, LlrConfig::scale and clip would need more than
/// 32768 entries. With one bit per axis (pi/2-BPSK, BPSK, QPSK) log-MAP equals max-log, and the closed form
/// serves both. The closed form also serves log-MAP in int8, with automatic or table, if N0 is so small that
/// both methods agree to half a least significant bit. evaluator_for() returns the choice.
///
/// Ranges. N0 is limited to 2^-100 ... 2^40, fp32 soft bits to +-2^64.
///
/// Gain. The demapper divides symbols by it: it multiplies each component by a factor, with one rounding. The
/// factor is 1 / gain, rounded to binary32; for integers it is 1 / (full_scale x gain), and the product is
/// rounded to binary32 first. cf16 is widened first. A component that becomes infinite is an erasure.
///
/// Bad samples. A NaN or infinite component is an erasure: the soft bits of its axis are 0 (BPSK: of the
/// symbol). A per-symbol N0 that is not finite and positive makes all soft bits of its symbol 0.
///
/// Not thread-safe: one demapper per thread. Several demappers may share a Host and its threads.
class PHY_EXPORT SoftDemapper {
public:
    using Config = DemapperConfig;

    /// Throws ArgumentError if a value of the configuration is out of its range.
    SoftDemapper(const Host& host, const Config& config);

    /// Demaps all symbols. llr.size() must be symbols.size() * Qm. A scalar N0 must be finite and positive;
    /// per-symbol N0 must have symbols.size() values. first_symbol is the index of the first symbol in its
    /// sequence; pi/2-BPSK needs its parity. If counters is given, the call adds to it; this costs up to
    /// 40 % of the speed. Allocates nothing, unless a new N0 needs a table.
    ///
    /// signs is empty or has one bit per soft bit, in (llr.size() + 31) / 32 words. Soft bit i is negated if
    /// bit i % 32 (0: least significant) of word i / 32 is 1. The words of gold_sequence() descramble the
    /// soft bits. In floating-point formats the sign bit is inverted, whatever the value.
    ///
    /// Throws ArgumentError if a size or a scalar N0 is invalid, and then has written nothing.
    void operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr, std::uint64_t first_symbol = 0,
                    DemapCounters* counters = nullptr, std::span<const std::uint32_t> signs = {});

    /// Returns the evaluator that a call with this noise and output format uses: arithmetic or table.
    [[nodiscard]] Evaluator evaluator_for(NoiseVariance noise, SoftBitFormat format) const;

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "SoftDemapper"> impl_;
};

}  // namespace phy

/// Soft demapping of symbols in device memory. Writes the bytes of phy::SoftDemapper.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Symbols, per-symbol noise, soft bits, signs and counters must be in memory
/// that the device can reach (wrap raw pointers in device_span()), must not overlap, and must stay there
/// until the work is done.
///
/// Kernels run in the stream's order. A kernel of the user's that is launched with
/// cudaLaunchAttributeProgrammaticStreamSerialization may begin before earlier calls have ended. It must call
/// cudaGridDependencySynchronize() before it touches their memory, and before it ends even if it does not:
/// later work waits for that kernel alone.
///
/// Any length and any alignment of symbols and soft bits is valid. If they and the per-symbol noise begin at
/// multiples of 16 bytes, as every DeviceBuffer does, kernels move 16 bytes at a time; otherwise a call can
/// take several times as long.
namespace phy::gpu {

/// Turns symbols into soft bits on a device. See phy::SoftDemapper for conventions, accuracy and bad samples.
///
/// A call that evaluates by table (see evaluator_for()) needs the table in device memory: call prepare()
/// first. Other calls do not need prepare(). It saves the first of them the loading of code, which may wait
/// and take device memory.
///
/// Several threads may call one demapper at once, on several streams. While one of them is in prepare() or
/// clear_tables(), no other thread may be in any function.
class PHY_EXPORT SoftDemapper {
public:
    using Config = DemapperConfig;

    /// Maximum number of cached tables (at most 1.3 MB each; int8: 256 KB).
    static constexpr std::size_t max_tables = 256;

    /// Throws ArgumentError if a value is out of its range.
    SoftDemapper(const Device& device, const Config& config);

    /// Prepares calls with this noise and format: builds the table if they need one, waits until it is on the
    /// device, and loads the code of the kernels, which would cost the first call some milliseconds. Returns
    /// soon if all is prepared. Does not read the values of per-symbol noise, which never needs a table.
    ///
    /// Keeps the tables of the latest max_tables different calls. One more waits for the device and frees the
    /// oldest table: later calls that need that table throw, and graphs that used it must not run again.
    ///
    /// Throws ArgumentError for a scalar N0 that is not finite and positive, CudaError if the device has no
    /// memory for the table.
    void prepare(NoiseVariance noise, SoftBitFormat format);

    /// Frees the memory of all tables. Waits for the device. Graphs that used them must not run again.
    void clear_tables();

    /// Demaps all symbols on the stream, which must belong to the device. Sizes, noise, first_symbol, signs
    /// and errors as in phy::SoftDemapper. Throws ArgumentError also if the call needs a table that was not
    /// prepared.
    ///
    /// counters has one element or none; the kernels add to it. Counting needs no extra memory traffic. It
    /// costs a few per cent of the speed from cf32, more from smaller samples (see data/results/gpu.md).
    ///
    /// Kernels of the arithmetic evaluator apply signs as they store soft bits. After kernels of tables, and
    /// if counters is given, a second kernel on the stream applies them: its registers would slow the first
    /// one down even without signs.
    void operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr, cudaStream_t stream,
                    std::uint64_t first_symbol = 0, DeviceSpan<DemapCounters> counters = {},
                    DeviceSpan<const std::uint32_t> signs = {}) const;

    /// Returns the evaluator that a call with this noise and output format uses: arithmetic or table.
    [[nodiscard]] Evaluator evaluator_for(NoiseVariance noise, SoftBitFormat format) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::SoftDemapper"> impl_;
};

}  // namespace phy::gpu
