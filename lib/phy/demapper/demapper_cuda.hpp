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

/// Soft demapping of symbols in device memory. The bytes are those of phy::SoftDemapper.
///
/// A call only starts kernels on the caller's stream: it returns at once, allocates nothing, does not wait,
/// and can be captured in a graph. Symbols, per-symbol noise, soft bits and counters are in memory that the
/// device can reach (device_span() takes raw pointers), do not overlap, and stay there until the work is
/// done.
///
/// Any length and any alignment of symbols and soft bits will do. Where they and the per-symbol noise begin
/// at multiples of 16 bytes, as every DeviceBuffer does, memory is moved in 16-byte pieces; elsewhere a call
/// can take several times as long.
namespace phy::gpu {

/// Symbols to soft bits on a device. See phy::SoftDemapper for conventions, accuracy and bad samples.
///
/// A call that evaluates by table (evaluator_for() tells) needs the table in device memory. prepare() puts it
/// there, so that calls take neither time nor memory for it. Other calls need no prepare(): it only saves the
/// first of them the loading of code, which may wait and take device memory.
///
/// Several threads may call one demapper at once, on several streams; but while one of them is in prepare()
/// or clear_tables(), no other may be in any function.
class PHY_EXPORT SoftDemapper {
public:
    using Config = DemapperConfig;

    /// That are kept: of 1.3 MB at most, with int8 of 256 KB.
    static constexpr std::size_t max_tables = 256;

    /// Throws ArgumentError if a value is out of its range.
    SoftDemapper(const Device& device, const Config& config);
    ~SoftDemapper();
    SoftDemapper(SoftDemapper&&) noexcept;
    SoftDemapper& operator=(SoftDemapper&&) noexcept;

    /// Gets calls with this noise and format ready: builds the table that they need, if any, waits until it
    /// is on the device, and has the kernels' code loaded, for which the first call would take some
    /// milliseconds otherwise. The tables of the latest max_tables different calls of prepare() are kept:
    /// one more waits for the device and gives the memory of the oldest back, after which calls that need it
    /// are refused, and graphs that used it must not run again. Of per-symbol noise, which never needs a
    /// table, no value is read. Returns soon where all that is done. Throws ArgumentError for a scalar N0
    /// that is not finite and positive, CudaError if the device has no memory for the table.
    void prepare(NoiseVariance noise, SoftBitFormat format);

    /// Gives the memory of all tables back. Waits for the device; graphs that used them must not run again.
    void clear_tables();

    /// Demaps all symbols on the stream, which belongs to the device. Sizes, noise, first_symbol and errors
    /// as in phy::SoftDemapper; ArgumentError too where the call needs a table that was not prepared.
    /// counters, one element if given, are added to when the work runs. Counting takes no more memory
    /// traffic: a few per cent of the speed from cf32, more from smaller samples (see data/results/gpu.md).
    ///
    /// signs as in phy::SoftDemapper. Kernels of the arithmetic evaluator apply them where they store soft
    /// bits; after those of tables, and where counters are given, a second kernel on the stream does, because
    /// the registers that it takes would cost their speed also without signs.
    void operator()(SymbolView symbols, NoiseVariance noise, SoftBitSpan llr, cudaStream_t stream,
                    std::uint64_t first_symbol = 0, DeviceSpan<DemapCounters> counters = {},
                    DeviceSpan<const std::uint32_t> signs = {}) const;

    /// The evaluator that a call with this noise and output format uses: arithmetic or table.
    [[nodiscard]] Evaluator evaluator_for(NoiseVariance noise, SoftBitFormat format) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::SoftDemapper"> impl_;
};

/// One piece of a batch in memory that a device reaches.
using Allocation =
    phy::detail::AllocationOf<SymbolView, NoiseVariance, SoftBitSpan, DeviceSpan<const std::uint32_t>>;

/// Many allocations, such as the users of a slot, in one call. Up to 64 allocations of one kind of
/// evaluation (closed form, table or log-sum-exp) take one launch. The bytes are those of single calls;
/// tables and threads as in SoftDemapper.
class PHY_EXPORT BatchDemapper {
public:
    /// Each allocation has its own modulation; that of the configuration does not matter.
    using Config = DemapperConfig;

    /// Throws ArgumentError if a value is out of its range.
    BatchDemapper(const Device& device, const Config& config);
    ~BatchDemapper();
    BatchDemapper(BatchDemapper&&) noexcept;
    BatchDemapper& operator=(BatchDemapper&&) noexcept;

    /// As SoftDemapper::prepare, for allocations of this modulation.
    void prepare(Modulation modulation, NoiseVariance noise, SoftBitFormat format);

    /// As SoftDemapper::clear_tables.
    void clear_tables();

    /// Demaps all allocations on the stream, which belongs to the device. All have soft bits in one format.
    /// The array of allocations may go when the call returns; what they point at must stay. Errors as in
    /// SoftDemapper; an ArgumentError gives the allocation's index, and nothing was started.
    void operator()(std::span<const Allocation> allocations, cudaStream_t stream,
                    DeviceSpan<DemapCounters> counters = {}) const;

    [[nodiscard]] const Device& device() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    phy::detail::Owned<Impl, "gpu::BatchDemapper"> impl_;
};

}  // namespace phy::gpu
