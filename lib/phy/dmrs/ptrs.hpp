#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"

/// Phase-tracking reference signals of PUSCH and PDSCH (TS 38.211 clauses 6.4.1.2 and 7.4.1.2).
namespace phy {

struct SlotAllocation;

/// PT-RS are on one subcarrier of every K-th resource block in every L-th symbol. They repeat the sequence of
/// the first DM-RS symbol there, without w_f. With transform precoding they are some of the M samples of an
/// OFDM symbol before the DFT, in groups, and have a sequence of their own.
struct PHY_EXPORT PtrsConfig {
    int time_density = 1;             ///< L: 1, 2 or 4; with transform precoding 1 or 2
    int frequency_density = 2;        ///< K: 2 or 4; not with transform precoding
    int resource_element_offset = 0;  ///< 0 to 3, for offset00 to offset11; not with transform precoding
    /// With transform precoding: N_group and N_samp, one of 2 x 2, 2 x 4, 4 x 2, 4 x 4 and 8 x 4.
    int groups = 2;
    int samples_per_group = 2;
    /// The DM-RS ports that PT-RS belong to: one, on the uplink up to two; below 4 for DM-RS of type 1, below
    /// 6 for type 2. Empty, as it must be with transform precoding: the lowest of DmrsConfig::ports.
    std::vector<int> ports = {};
    /// n_RNTI, 0 to 65535; shifts the resource blocks. With transform precoding it chooses w of table
    /// 6.4.1.2.1.2-1.
    std::uint32_t rnti = 0;
    /// EPRE of PT-RS over that of data of a layer, from -60 to 60 dB. None: 0, 3, 4.77, 6 dB for 1 to 4
    /// layers: epre-Ratio 0 of TS 38.214 table 4.1-2, and table 6.2.3.1-3 for coherent codebooks. With
    /// transform precoding the power of the outermost points: table 6.2.3.2-2.
    std::optional<float> power_db = {};

    friend bool operator==(const PtrsConfig&, const PtrsConfig&) = default;
};

/// Returns the symbols of the slot with PT-RS, none of which has DM-RS. There are none in allocations of up
/// to L symbols, for L above 1 (TS 38.214 clauses 5.1.6.3 and 6.2.3.1). Throws ArgumentError if the
/// allocation is invalid or has no ptrs.
PHY_EXPORT std::vector<int> ptrs_symbols(const SlotAllocation& allocation);

/// The PT-RS of a port in a symbol. With transform precoding sample m is written as the allocation's
/// subcarrier m.
struct PHY_EXPORT PtrsPort {
    int port = 0;                  ///< its DM-RS port
    std::vector<int> subcarriers;  ///< of the grid, ascending
    std::vector<int> pilots;       ///< which of ptrs_pilots() they are
    friend bool operator==(const PtrsPort&, const PtrsPort&) = default;
};

/// Returns the ports with PT-RS, as PtrsConfig::ports has them. SlotAllocation::reserved takes some of their
/// elements. Throws what ptrs_symbols() throws.
PHY_EXPORT std::vector<PtrsPort> ptrs_ports(const SlotAllocation& allocation);

/// Returns the allocation with PT-RS in the place of data, so that an Equalizer turns them into symbols: its
/// ResourceMap has the elements of all ports. None if all of them are reserved, or if there are none. Throws
/// what ptrs_symbols() throws, and ArgumentError with transform precoding: see precoder_input().
PHY_EXPORT std::optional<SlotAllocation> ptrs_allocation(const SlotAllocation& allocation);

/// Returns the amplitude of PT-RS over that of data of a layer. The modulation matters with transform
/// precoding alone, if power_db is none. Throws what ptrs_symbols() throws.
PHY_EXPORT float ptrs_amplitude(const SlotAllocation& allocation, Modulation modulation);

/// Writes what PT-RS of a slot are, before their amplitude: the pilots of dmrs_pilots(), or with transform
/// precoding r_m(m') of clause 6.4.1.2.1.2 for all samples of an OFDM symbol. Throws what ptrs_symbols() and
/// dmrs_pilots() throw; pilots.size() must be ptrs_pilot_count().
PHY_EXPORT void ptrs_pilots(const SlotAllocation& allocation, int slot, std::span<cf32> pilots);
/// Returns the number of values that ptrs_pilots() writes. Throws what ptrs_symbols() throws.
PHY_EXPORT std::size_t ptrs_pilot_count(const SlotAllocation& allocation);

/// Which samples of a slot before transform precoding, (OFDM symbols, M), are what: lists of ascending
/// indices.
struct PHY_EXPORT PrecoderInput {
    std::vector<std::uint32_t> data;
    std::vector<std::uint32_t> ptrs;  ///< OFDM symbol by OFDM symbol
};

/// Throws ArgumentError if the allocation is invalid or without transform precoding.
PHY_EXPORT PrecoderInput precoder_input(const SlotAllocation& allocation);

}  // namespace phy
