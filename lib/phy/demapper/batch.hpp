#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/view.hpp"
#include "phy/demapper/demapper.hpp"

namespace phy {

namespace detail {

/// One piece of a batch: symbols of one modulation, their noise variance, and the soft bits to write.
template <class Symbols, class Noise, class SoftBits, class Signs>
struct AllocationOf {
    Modulation modulation;
    Symbols symbols;
    Noise noise;
    SoftBits llr;                    ///< symbols.size() * Qm values
    std::uint64_t first_symbol = 0;  ///< see SoftDemapper
    Signs signs = {};                ///< see SoftDemapper
};

}  // namespace detail

/// One piece of a batch in host memory.
using Allocation =
    detail::AllocationOf<SymbolView, NoiseVariance, SoftBitSpan, std::span<const std::uint32_t>>;

/// Demaps many allocations, such as the users of a slot, in one call. Writes the bytes of SoftDemapper. Not
/// thread-safe: one demapper per thread.
class PHY_EXPORT BatchDemapper {
public:
    using Config = BatchDemapperConfig;

    /// Throws what SoftDemapper's constructor throws.
    BatchDemapper(const Host& host, const Config& config);

    /// Demaps all allocations. The threads of the host share the batch, whatever the sizes of its pieces. All
    /// outputs have one format and must not overlap. Throws ArgumentError with the index of an invalid
    /// allocation, and then has written nothing. Counters as in SoftDemapper. Allocates if it must build a
    /// table, and if the batch is larger than every batch before. Keeps the latest 32 tables, or as many as
    /// the latest call needed.
    void operator()(std::span<const Allocation> allocations, DemapCounters* counters = nullptr);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "BatchDemapper"> impl_;
};

}  // namespace phy

namespace phy::gpu {

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
