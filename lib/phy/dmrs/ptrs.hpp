#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "phy/core/export.hpp"

/// Phase-tracking reference signals of PUSCH without transform precoding and of PDSCH (TS 38.211 clauses
/// 6.4.1.2 and 7.4.1.2).
namespace phy {

struct SlotAllocation;

/// PT-RS are on one subcarrier of every K-th resource block in every L-th symbol. They repeat the sequence of
/// the first DM-RS symbol there, without w_f.
struct PHY_EXPORT PtrsConfig {
    int time_density = 1;             ///< L: 1, 2 or 4
    int frequency_density = 2;        ///< K: 2 or 4
    int resource_element_offset = 0;  ///< 0 to 3, for offset00 to offset11
    /// The DM-RS ports that PT-RS belong to: one, on the uplink up to two; below 4 for DM-RS of type 1, below
    /// 6 for type 2. Empty: the lowest of DmrsConfig::ports.
    std::vector<int> ports = {};
    std::uint32_t rnti = 0;  ///< n_RNTI, 0 to 65535; shifts the resource blocks
    /// EPRE of PT-RS over that of data of a layer, from -60 to 60 dB. None: 0, 3, 4.77, 6 dB for 1 to 4
    /// layers: epre-Ratio 0 of TS 38.214 table 4.1-2, and table 6.2.3.1-3 for
    /// coherent codebooks.
    std::optional<float> power_db = {};

    friend bool operator==(const PtrsConfig&, const PtrsConfig&) = default;
};

/// Returns the symbols of the slot with PT-RS, none of which has DM-RS. There are none in allocations of up
/// to L symbols, for L above 1 (TS 38.214 clauses 5.1.6.3 and 6.2.3.1). Throws ArgumentError if the
/// allocation is invalid or has no ptrs.
PHY_EXPORT std::vector<int> ptrs_symbols(const SlotAllocation& allocation);

/// The PT-RS of a port in a symbol.
struct PHY_EXPORT PtrsPort {
    int port = 0;                  ///< its DM-RS port
    std::vector<int> subcarriers;  ///< of the grid, ascending
    std::vector<int> pilots;       ///< which pilots of the first DM-RS symbol they repeat
    friend bool operator==(const PtrsPort&, const PtrsPort&) = default;
};

/// Returns the ports with PT-RS, as PtrsConfig::ports has them. SlotAllocation::reserved takes some of their
/// elements. Throws what ptrs_symbols() throws.
PHY_EXPORT std::vector<PtrsPort> ptrs_ports(const SlotAllocation& allocation);

/// Returns the allocation with PT-RS in the place of data, so that an Equalizer turns them into symbols: its
/// ResourceMap has the elements of all ports. None if all of them are reserved, or if there are none. Throws
/// what ptrs_symbols() throws.
PHY_EXPORT std::optional<SlotAllocation> ptrs_allocation(const SlotAllocation& allocation);

/// Returns the amplitude of PT-RS over that of data of a layer. Throws what ptrs_symbols() throws.
PHY_EXPORT float ptrs_amplitude(const SlotAllocation& allocation);

}  // namespace phy
