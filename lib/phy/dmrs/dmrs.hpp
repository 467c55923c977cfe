#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"

/// Demodulation reference signals of PUSCH and PDSCH (TS 38.211 clauses 6.4.1.1 and 7.4.1.1).
namespace phy {

struct SlotAllocation;

enum class Direction { uplink, downlink };

/// Of sequences with transform precoding (TS 38.211 clause 6.4.1.1.1.2).
enum class SequenceHopping { none, group, sequence };

/// The DM-RS of one codeword. Ports count from 0 in both directions: 3 is port 3 of PUSCH, and port 1003 of
/// PDSCH.
struct PHY_EXPORT DmrsConfig {
    int type = 1;    ///< configuration type, 1 or 2
    int length = 1;  ///< symbols of a DM-RS: 1 or 2
    std::vector<int> ports = {
        0};  ///< ports[v] is that of layer v; type 1: below 4 x length, 2: below 6 x length
    int cdm_groups_without_data = 2;     ///< from 1 to 3 (type 1: 2), and more than the group of any port
    std::vector<int> symbols = {2, 11};  ///< all DM-RS symbols of the slot, in order, both of a double one
    std::uint32_t scrambling_id = 0;     ///< N_ID, from 0 to 65535; with transform precoding n_ID^RS, to 1007
    int n_scid = 0;                      ///< 0 or 1
    int reference_crb = 0;  ///< common resource block that sequences count from; not above any used
    std::optional<float> power_db = {};  ///< EPRE of DM-RS over data, from -60 to 60; none: 0, 3, 4.77 for 1,
                                         ///< 2, 3 CDM groups without data
    bool transform_precoding = false;    ///< uplink, type 1, one layer, 2 CDM groups without data, one range
    SequenceHopping hopping = SequenceHopping::none;  ///< with transform precoding

    friend bool operator==(const DmrsConfig&, const DmrsConfig&) = default;
};

/// What distinguishes a port (tables 6.4.1.1.3-1, -2 and 7.4.1.1.2-1, -2).
struct PHY_EXPORT DmrsPort {
    int cdm_group = 0;
    int delta = 0;                         ///< first subcarrier of the group
    std::array<int, 2> in_frequency = {};  ///< w_f(0), w_f(1)
    std::array<int, 2> in_time = {};       ///< w_t(0), w_t(1)
};

/// Throws ArgumentError if the type has no such port.
PHY_EXPORT DmrsPort dmrs_port(int type, int port);

/// Where DM-RS stand by the rules of a mapping type.
struct PHY_EXPORT DmrsPlacement {
    Direction direction = Direction::uplink;
    char mapping_type = 'A';       ///< 'A' or 'B'
    int first_symbol = 0;          ///< of the allocation
    int symbols = 14;              ///< of the allocation
    int type_a_position = 2;       ///< dmrs-TypeA-Position, 2 or 3
    int additional_positions = 0;  ///< from 0 to 3
    int length = 1;                ///< 1 or 2
};

/// The DM-RS symbols of a slot (tables 6.4.1.1.3-3, -4 and 7.4.1.1.2-3, -4, without intra-slot hopping), both
/// of a double one, counted from symbol 0 of the slot; l_1 of the downlink is 11. Throws ArgumentError where
/// the tables have no entry.
PHY_EXPORT std::vector<int> dmrs_symbols(const DmrsPlacement& placement);

/// Pilots of one CDM group in a resource block: type 1: 6, type 2: 4.
PHY_EXPORT int pilots_per_resource_block(int type);

/// The subcarrier of a resource block that pilot i of a CDM group, from 0 to pilots_per_resource_block - 1,
/// stands on.
PHY_EXPORT int pilot_subcarrier(int type, int cdm_group, int i);

/// The amplitude of DM-RS over that of data: beta.
PHY_EXPORT float dmrs_amplitude(const DmrsConfig& dmrs);

/// The sequence of a slot, without w_f, w_t and beta: (DM-RS symbols, pilots), where the pilots are those of
/// one CDM group in the resource blocks of the allocation, in the order of its list. Pseudo-random (r(m) of
/// 6.4.1.1.1.1) or, with transform precoding, of low PAPR (6.4.1.1.1.2, 5.2.2). slot is its number in the
/// frame, from 0 to 639. Throws ArgumentError if the allocation cannot be, or if the size of pilots does not
/// fit.
PHY_EXPORT void dmrs_pilots(const SlotAllocation& allocation, int slot, std::span<cf32> pilots);

/// Pilots of one slot: what dmrs_pilots() writes.
PHY_EXPORT std::size_t dmrs_pilot_count(const SlotAllocation& allocation);

/// r_u,v(n) of TS 38.211 clause 5.2.2, of group u from 0 to 29 and v 0 or 1, as long as the span. Throws
/// ArgumentError where there is no such sequence.
PHY_EXPORT void low_papr_sequence(int u, int v, std::span<cf32> sequence);

}  // namespace phy
