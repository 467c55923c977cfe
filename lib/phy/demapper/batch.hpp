#pragma once

#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/demapper/demapper.hpp"

namespace phy {

namespace detail {

/// One piece of a batch: symbols of one modulation and noise, and where their soft bits go.
template <class Symbols, class Noise, class SoftBits, class Signs>
struct AllocationOf {
    Modulation modulation;
    Symbols symbols;
    Noise noise;
    SoftBits llr;                    ///< symbols.size() * Qm
    std::uint64_t first_symbol = 0;  ///< see SoftDemapper
    Signs signs = {};                ///< see SoftDemapper
};

}  // namespace detail

/// One piece of a batch in host memory.
using Allocation =
    detail::AllocationOf<SymbolView, NoiseVariance, SoftBitSpan, std::span<const std::uint32_t>>;

/// Many allocations, such as the users of a slot, in one call. The bytes are those of SoftDemapper, which
/// says what the configuration means. Not thread-safe: one demapper a thread.
class PHY_EXPORT BatchDemapper {
public:
    /// Each allocation has its own modulation; that of the configuration does not matter.
    using Config = DemapperConfig;

    /// Throws as SoftDemapper's constructor.
    BatchDemapper(const Host& host, const Config& config);
    ~BatchDemapper();
    BatchDemapper(BatchDemapper&&) noexcept;
    BatchDemapper& operator=(BatchDemapper&&) noexcept;

    /// Demaps all allocations; the host's threads share the batch, however it is divided. Outputs must not
    /// overlap, and all have one format. An invalid allocation is an ArgumentError that gives its index, and
    /// nothing was written. Counters as in SoftDemapper. Allocates when it sees more allocations than before,
    /// or must build a table: those of the latest calls are kept, up to 32 or as many as the latest needed.
    void operator()(std::span<const Allocation> allocations, DemapCounters* counters = nullptr);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "BatchDemapper"> impl_;
};

}  // namespace phy
