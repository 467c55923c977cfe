#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/demapper.hpp"

/// Soft demapping of symbols in device memory. Writes the bytes of phy::SoftDemapper.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Symbols, per-symbol noise, soft bits, signs and counters must be in memory
/// that the device can reach (wrap raw pointers in device_span()), must not overlap, and must stay there
/// until the work is done.
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
    ~SoftDemapper();
    SoftDemapper(SoftDemapper&&) noexcept;
    SoftDemapper& operator=(SoftDemapper&&) noexcept;

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

/// One piece of a batch in memory that a device can reach.
using Allocation =
    phy::detail::AllocationOf<SymbolView, NoiseVariance, SoftBitSpan, DeviceSpan<const std::uint32_t>>;

/// Demaps many allocations, such as the users of a slot, in one call. Up to 64 allocations of one kind of
/// evaluation (closed form, table or log-sum-exp) take one launch. Writes the bytes of single calls. Tables
/// and thread safety as in SoftDemapper.
class PHY_EXPORT BatchDemapper {
public:
    using Config = BatchDemapperConfig;

    /// Throws ArgumentError if a value is out of its range.
    BatchDemapper(const Device& device, const Config& config);
    ~BatchDemapper();
    BatchDemapper(BatchDemapper&&) noexcept;
    BatchDemapper& operator=(BatchDemapper&&) noexcept;

    /// As SoftDemapper::prepare(), for allocations of this modulation.
    void prepare(Modulation modulation, NoiseVariance noise, SoftBitFormat format);

    /// As SoftDemapper::clear_tables().
    void clear_tables();

    /// Demaps all allocations on the stream, which must belong to the device. All soft bits have one format.
    /// The array of allocations may be freed when the call returns; the memory that they refer to must stay.
    /// Errors as in SoftDemapper. An ArgumentError gives the index of the allocation, and then nothing was
    /// started.
    void operator()(std::span<const Allocation> allocations, cudaStream_t stream,
                    DeviceSpan<DemapCounters> counters = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::BatchDemapper"> impl_;
};

}  // namespace phy::gpu
