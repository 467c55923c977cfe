#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/dmrs/dmrs.hpp"

/// Where in a slot the symbols of a codeword lie. Grids are arrays (slots, antennas, symbols, subcarriers) of
/// received resource elements, with symbols_per_slot symbols and 12 subcarriers for each resource block of
/// the carrier.
namespace phy {

inline constexpr int symbols_per_slot = 14;  ///< of the normal cyclic prefix
inline constexpr int subcarriers_per_resource_block = 12;
inline constexpr int max_layers = 4;
inline constexpr int max_antennas = 16;

/// Neighbouring resource blocks, counted from the first of the carrier.
struct PHY_EXPORT ResourceBlocks {
    int first = 0;
    int count = 0;
    friend bool operator==(const ResourceBlocks&, const ResourceBlocks&) = default;
};

/// Resource elements that carry no data: CSI-RS, SSB, PT-RS. DM-RS stand where they stand nevertheless.
struct PHY_EXPORT ReservedElements {
    std::vector<int> symbols;
    ResourceBlocks resource_blocks;
    std::vector<int> subcarriers;  ///< from 0 to 11, of each of the resource blocks
    friend bool operator==(const ReservedElements&, const ReservedElements&) = default;
};

/// What PUSCH or PDSCH of one codeword occupies in a slot.
struct PHY_EXPORT SlotAllocation {
    int carrier_resource_blocks = 0;              ///< of the grid, from 1 to 275
    int first_crb = 0;                            ///< common resource block of the grid's first
    std::vector<ResourceBlocks> resource_blocks;  ///< in the order in which they are filled; none overlap
    int first_symbol = 0;
    int symbols = symbols_per_slot;
    DmrsConfig dmrs;
    std::vector<ReservedElements> reserved;

    [[nodiscard]] int layers() const { return static_cast<int>(dmrs.ports.size()); }
    [[nodiscard]] int subcarriers() const { return carrier_resource_blocks * subcarriers_per_resource_block; }

    friend bool operator==(const SlotAllocation&, const SlotAllocation&) = default;
};

/// Throws ArgumentError, which names the value, if the allocation leaves its carrier or the slot, if ranges
/// overlap or are empty, if DM-RS lie outside of its symbols, if ports are not distinct or not those of the
/// DM-RS type and length, if what DmrsConfig says of transform precoding or of any range does not hold, or if
/// there is no resource element for data.
PHY_EXPORT void check(const SlotAllocation& allocation);

/// Which resource elements of a slot carry data, and where in the codeword their symbols stand (TS 38.211
/// clauses 6.3.1.6 and 7.3.1.5: subcarriers first, resource blocks as listed, then symbols).
class PHY_EXPORT ResourceMap {
public:
    /// The data elements of one resource block in one symbol.
    struct Entry {
        std::uint32_t first = 0;  ///< elements of the slot before those; 0 where there are none
        std::uint32_t mask = 0;   ///< bit k: subcarrier k of the resource block carries data
        friend bool operator==(const Entry&, const Entry&) = default;
    };

    /// Throws as check() does.
    explicit ResourceMap(const SlotAllocation& allocation);

    /// Copies, as a move does too: what was moved from is still a map.
    ResourceMap(const ResourceMap&) = default;
    ResourceMap& operator=(const ResourceMap&) = default;
    ~ResourceMap() = default;

    /// Resource elements with data in the slot.
    [[nodiscard]] std::size_t elements() const { return elements_; }

    /// (symbols_per_slot, carrier_resource_blocks).
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }

private:
    std::vector<Entry> entries_;
    std::size_t elements_ = 0;
};

}  // namespace phy
