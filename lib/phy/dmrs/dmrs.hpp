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

/// Hopping of low-PAPR sequences, with transform precoding (TS 38.211 clause 6.4.1.1.1.2).
enum class SequenceHopping { none, group, sequence };

/// The DM-RS of one codeword. Ports count from 0 in both directions: 3 is port 3 of PUSCH and port 1003 of
/// PDSCH.
struct PHY_EXPORT DmrsConfig {
    int type = 1;    ///< configuration type, 1 or 2
    int length = 1;  ///< symbols per DM-RS: 1 or 2
    /// ports[v] is the port of layer v: below 4 x length for type 1, below 6 x length for type 2.
    std::vector<int> ports = {0};
    int cdm_groups_without_data = 2;  ///< 1 or 2, type 2 also 3; above the group of any port
    /// All DM-RS symbols of the slot, in order; with length 2 both symbols of each pair.
    std::vector<int> symbols = {2, 11};
    std::uint32_t scrambling_id = 0;  ///< N_ID, 0 to 65535; with transform precoding n_ID^RS, 0 to 1007
    int n_scid = 0;                   ///< 0 or 1
    /// The common resource block that sequences count from; not above any used one.
    int reference_crb = 0;
    /// EPRE of DM-RS over that of data, from -60 to 60 dB. None: 0, 3, 4.77 dB for 1, 2, 3 CDM groups without
    /// data (TS 38.214 tables 4.1-1 and 6.2.2-1).
    std::optional<float> power_db = {};
    /// Uplink only. Needs type 1, one layer, 2 CDM groups without data and one range of resource blocks.
    bool transform_precoding = false;
    SequenceHopping hopping = SequenceHopping::none;  ///< needs transform_precoding

    friend bool operator==(const DmrsConfig&, const DmrsConfig&) = default;
};

/// The parameters of a port (tables 6.4.1.1.3-1, -2 and 7.4.1.1.2-1, -2).
struct PHY_EXPORT DmrsPort {
    int cdm_group = 0;
    int delta = 0;                         ///< first subcarrier of the group
    std::array<int, 2> in_frequency = {};  ///< w_f(0), w_f(1)
    std::array<int, 2> in_time = {};       ///< w_t(0), w_t(1)
};

/// Returns the parameters of a port. Throws ArgumentError if the type has no such port.
PHY_EXPORT DmrsPort dmrs_port(int type, int port);

/// The parameters that determine the positions of DM-RS.
struct PHY_EXPORT DmrsPlacement {
    Direction direction = Direction::uplink;
    char mapping_type = 'A';       ///< 'A' or 'B'
    int first_symbol = 0;          ///< of the allocation
    int symbols = 14;              ///< of the allocation
    int type_a_position = 2;       ///< dmrs-TypeA-Position, 2 or 3
    int additional_positions = 0;  ///< from 0 to 3
    int length = 1;                ///< 1 or 2
};

/// Returns the DM-RS symbols, counted from symbol 0 of the slot, with both symbols of a double DM-RS (tables
/// 6.4.1.1.3-3, -4 and 7.4.1.1.2-3, -4, without intra-slot hopping). l_1 of the downlink is 11. Throws
/// ArgumentError if a value is out of its range or the tables have no entry.
PHY_EXPORT std::vector<int> dmrs_symbols(const DmrsPlacement& placement);

/// Returns the pilots of one CDM group in a resource block: 6 for type 1, 4 for type 2.
PHY_EXPORT int pilots_per_resource_block(int type);

/// Returns the subcarrier, in its resource block, of pilot i of a CDM group. i is from 0 to
/// pilots_per_resource_block() - 1.
PHY_EXPORT int pilot_subcarrier(int type, int cdm_group, int i);

/// Returns beta, the amplitude of DM-RS over that of data.
PHY_EXPORT float dmrs_amplitude(const DmrsConfig& dmrs);

/// Writes the DM-RS sequence of a slot, without w_f, w_t and beta, as (DM-RS symbols, pilots). The pilots are
/// those of one CDM group in the resource blocks of the allocation, in the order of its list. The sequence is
/// pseudo-random (r(m) of clause 6.4.1.1.1.1) or, with transform precoding, of low PAPR (clauses 6.4.1.1.1.2
/// and 5.2.2). slot is the number of the slot in the frame, from 0 to 639. Throws ArgumentError if the
/// allocation or the slot is invalid, or if pilots.size() is not dmrs_pilot_count().
PHY_EXPORT void dmrs_pilots(const SlotAllocation& allocation, int slot, std::span<cf32> pilots);

/// Returns the number of values that dmrs_pilots() writes: the pilots of one slot.
PHY_EXPORT std::size_t dmrs_pilot_count(const SlotAllocation& allocation);

/// Writes r_u,v(n) of TS 38.211 clause 5.2.2. The length is that of the span. u is the group, from 0 to 29; v
/// is 0 or 1. Throws ArgumentError if no such sequence exists.
PHY_EXPORT void low_papr_sequence(int u, int v, std::span<cf32> sequence);

}  // namespace phy
