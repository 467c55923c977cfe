#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy {

/// Puts the symbols of codewords and DM-RS where an allocation has them: layer mapping (TS 38.211 clauses
/// 6.3.1.3, 7.3.1.3), DM-RS of each port with w_f, w_t and beta (6.4.1.1.3, 7.4.1.1.2), and mapping to
/// resource elements. Each layer has a grid of its own, as if precoded by the identity. Reserved elements
/// stay 0 unless DM-RS stand there. With transform precoding symbols are those that come out of it.
///
/// Immutable, so one mapper may be used from many threads.
class PHY_EXPORT GridMapper {
public:
    /// Throws ArgumentError as check() does.
    explicit GridMapper(const SlotAllocation& allocation);

    /// Copies, as a move does too: what was moved from is still a mapper.
    GridMapper(const GridMapper&) = default;
    GridMapper& operator=(const GridMapper&) = default;
    ~GridMapper() = default;

    /// Symbols of a slot: data elements x layers.
    [[nodiscard]] std::size_t symbols_per_slot() const;
    /// Pilots of a slot: dmrs_pilot_count().
    [[nodiscard]] std::size_t pilots_per_slot() const;
    /// Resource elements of a slot: layers x symbols x subcarriers.
    [[nodiscard]] std::size_t grid_size() const;

    /// symbols: (slots, data elements, layers), which is the order of the codeword. pilots: (slots, DM-RS
    /// symbols, pilots) of dmrs_pilots(). grid: (slots, layers, symbols, subcarriers); all of it is written,
    /// with 0 where nothing is sent. Allocates nothing. Throws ArgumentError if sizes do not fit.
    void operator()(std::span<const cf32> symbols, std::span<const cf32> pilots, std::span<cf32> grid) const;

    [[nodiscard]] const SlotAllocation& allocation() const { return allocation_; }
    [[nodiscard]] const ResourceMap& resource_map() const { return map_; }

private:
    void put_data(const cf32* symbols, cf32* grid) const;
    void put_pilots(const cf32* pilots, cf32* grid) const;
    void put_pilots_of_symbol(const cf32* pilots, int cdm_group, const std::array<float, 2>& amplitudes,
                              cf32* row) const;

    SlotAllocation allocation_;
    ResourceMap map_;
    std::size_t pilots_ = 0;
    float amplitude_ = 1.0F;
    std::vector<DmrsPort> ports_;
};

}  // namespace phy
