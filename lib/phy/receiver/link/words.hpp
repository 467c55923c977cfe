#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "phy/receiver/link.hpp"
#include "phy/receiver/link/json_object.hpp"
#include "phy/receiver/link/mcs.hpp"

/// Values of a link that its text may give in the words of RRC, DCI and FAPI, in place of phy's own keys.
/// Errors are those of JsonObject.
namespace phy::detail {

/// f0 in Hz: center_frequency, arfcn or point_a_arfcn. For the last, link has the rest of the carrier.
std::optional<double> read_center_frequency(const JsonObject& carrier, const Link& link);

/// The bandwidth part in resource blocks of the carrier; none: the whole carrier.
ResourceBlocks read_bwp(const JsonObject& allocation, int carrier_resource_blocks);

/// First and count, both within size: an RIV (TS 38.214 clause 5.1.2.2.2) if size is that of a bandwidth part
/// in resource blocks, a SLIV (clause 5.1.2.1) if it is the 14 symbols of a slot.
std::pair<int, int> read_indicator(const JsonObject& object, std::string_view key, int size);

/// mcs_index by mcs_table and tp_pi2bpsk (TS 38.214 clauses 5.1.3.1 and 6.1.4.1). link has direction and
/// transform precoding.
Mcs read_mcs(const JsonObject& allocation, const Link& link);

/// DM-RS ports from 0 on. On the downlink the text may count all of them from 1000, as TS 38.211 clause
/// 7.4.1.1.2 does. Each is a number or its text.
std::vector<int> read_ports(const JsonObject& dmrs, Direction direction);

/// Symbols of a slot by a mask, whose bit 0 is symbol 0.
std::vector<int> read_symbol_mask(const JsonObject& object, std::string_view key);

}  // namespace phy::detail
