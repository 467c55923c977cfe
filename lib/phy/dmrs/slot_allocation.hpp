#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/dmrs/dmrs.hpp"
#include "phy/dmrs/ptrs.hpp"

/// The resource elements of a codeword in a slot. Grids are arrays (slots, antennas, symbols, subcarriers) of
/// received resource elements, with symbols_per_slot symbols and 12 subcarriers per resource block of the
/// carrier.
namespace phy {

inline constexpr int symbols_per_slot = 14;  ///< with normal cyclic prefix
inline constexpr int subcarriers_per_resource_block = 12;
inline constexpr int max_layers = 4;
inline constexpr int max_antennas = 16;

/// Neighbouring resource blocks, counted from the first of the carrier.
struct PHY_EXPORT ResourceBlocks {
    int first = 0;
    int count = 0;
    friend bool operator==(const ResourceBlocks&, const ResourceBlocks&) = default;
};

/// Resource elements without data: CSI-RS, SSB. DM-RS stay where they are.
struct PHY_EXPORT ReservedElements {
    std::vector<int> symbols;
    ResourceBlocks resource_blocks;
    std::vector<int> subcarriers;  ///< from 0 to 11, in each resource block
    friend bool operator==(const ReservedElements&, const ReservedElements&) = default;
};

/// The resources of PUSCH or PDSCH of one codeword in a slot.
struct PHY_EXPORT SlotAllocation {
    int carrier_resource_blocks = 0;              ///< in the grid, from 1 to 275
    int first_crb = 0;                            ///< common resource block of the grid's first block
    std::vector<ResourceBlocks> resource_blocks;  ///< in the order of mapping; must not overlap
    int first_symbol = 0;
    int symbols = symbols_per_slot;
    DmrsConfig dmrs;
    std::vector<ReservedElements> reserved;
    /// None: the transmission has no PT-RS.
    std::optional<PtrsConfig> ptrs = {};
    /// Subcarriers of the grid that the receiver spoils, such as by its line at zero frequency; up to 4
    /// neighbours. Data and DM-RS are there, but are not used: soft bits are 0.
    std::vector<int> erased_subcarriers = {};

    [[nodiscard]] int layers() const { return static_cast<int>(dmrs.ports.size()); }
    [[nodiscard]] int subcarriers() const { return carrier_resource_blocks * subcarriers_per_resource_block; }

    friend bool operator==(const SlotAllocation&, const SlotAllocation&) = default;
};

/// Throws ArgumentError, which names the value, if the allocation is invalid: it leaves its carrier or the
/// slot, ranges overlap or are empty, DM-RS are outside its symbols, ports are not distinct or do not fit the
/// DM-RS type and length, a range or a condition of DmrsConfig or PtrsConfig is violated, no resource element
/// is left for data, or erased subcarriers take all even or all odd DM-RS of a port in a range.
PHY_EXPORT void check(const SlotAllocation& allocation);

/// The resource elements of a slot that carry data, and the positions of their symbols in the codeword (TS
/// 38.211 clauses 6.3.1.6 and 7.3.1.5: subcarriers first, resource blocks as listed, then symbols). With
/// transform precoding and ptrs, the samples before the DFT that do: sample m as subcarrier m of the
/// allocation. An Equalizer takes the allocation without ptrs then.
class PHY_EXPORT ResourceMap {
public:
    /// The data elements of one resource block in one symbol.
    struct Entry {
        std::uint32_t first = 0;  ///< data elements of the slot before these; 0 if mask is 0
        std::uint32_t mask = 0;   ///< bit k: subcarrier k of the resource block carries data
        friend bool operator==(const Entry&, const Entry&) = default;
    };

    /// Throws what check() throws.
    explicit ResourceMap(const SlotAllocation& allocation);

    /// Moving copies: a moved-from map stays valid.
    ResourceMap(const ResourceMap&) = default;
    ResourceMap& operator=(const ResourceMap&) = default;
    ~ResourceMap() = default;

    /// Returns the data elements of the slot.
    [[nodiscard]] std::size_t elements() const { return elements_; }

    /// Returns an array (symbols_per_slot, carrier_resource_blocks).
    [[nodiscard]] std::span<const Entry> entries() const { return entries_; }

private:
    std::vector<Entry> entries_;
    std::size_t elements_ = 0;
};

}  // namespace phy
