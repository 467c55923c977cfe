#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/dmrs/slot_allocation.hpp"

namespace phy {

/// Maps symbols of codewords and DM-RS to the resource elements of an allocation: layer mapping (TS 38.211
/// clauses 6.3.1.3 and 7.3.1.3), DM-RS of each port with w_f, w_t and beta (clauses 6.4.1.1.3 and 7.4.1.1.2),
/// PT-RS of ports that a layer has (clauses 6.4.1.2 and 7.4.1.2), and mapping to resource elements. Each
/// layer has its own grid, as if precoded by the identity. Reserved elements are 0, except for those with
/// DM-RS. With transform precoding the caller passes precoded symbols, among whose samples are PT-RS.
///
/// Thread-safe.
class PHY_EXPORT GridMapper {
public:
    /// Throws what check() throws.
    explicit GridMapper(const SlotAllocation& allocation);

    /// Moving copies: a moved-from mapper stays valid.
    GridMapper(const GridMapper&) = default;
    GridMapper& operator=(const GridMapper&) = default;
    ~GridMapper() = default;

    /// Returns the symbols per slot: data elements x layers, or the precoded samples of data and PT-RS.
    [[nodiscard]] std::size_t symbols_per_slot() const;
    /// Returns the pilots per slot: dmrs_pilot_count().
    [[nodiscard]] std::size_t pilots_per_slot() const;
    /// Returns the resource elements per slot: layers x symbols x subcarriers.
    [[nodiscard]] std::size_t grid_size() const;

    /// Maps all slots. symbols: (slots, data elements, layers), the order of the codeword. pilots: (slots,
    /// DM-RS symbols, pilots) from dmrs_pilots(). grid: (slots, layers, symbols, subcarriers), written in
    /// full, with 0 in empty elements. Throws ArgumentError if sizes do not fit. Allocates nothing.
    void operator()(std::span<const cf32> symbols, std::span<const cf32> pilots, std::span<cf32> grid) const;

    /// With transform precoding, without ptrs.
    [[nodiscard]] const SlotAllocation& allocation() const { return allocation_; }

private:
    /// In the grid of a slot, and in its pilots.
    struct PtrsElement {
        std::size_t element;
        std::size_t pilot;
    };

    void add_ptrs();
    void put_data(const cf32* symbols, cf32* grid) const;
    void put_pilots(const cf32* pilots, cf32* grid) const;
    void put_pilots_of_symbol(const cf32* pilots, int cdm_group, const std::array<float, 2>& amplitudes,
                              cf32* row) const;

    SlotAllocation allocation_;
    ResourceMap map_;
    std::size_t pilots_ = 0;
    float amplitude_ = 1.0F;
    std::vector<DmrsPort> ports_;
    float ptrs_amplitude_ = 1.0F;
    std::vector<PtrsElement> ptrs_;
};

}  // namespace phy
