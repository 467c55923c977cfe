#include "demod/example_link.hpp"

#include <fmt/format.h>

#include "phy/core/error.hpp"

namespace phy::apps {
namespace {

constexpr const char* pusch = R"(// The link of a PUSCH recording. Change it to yours.
// docs/link.md has all keys, docs/rrc.md where they stand in an RRC log.
// Numbers are in hertz or counts. Whole numbers may be texts such as "0x4601".
{
  "direction": "uplink",
  "carrier": {
    "subcarrier_spacing": 30000,
    "resource_blocks": 273,             // carrierBandwidth
    "first_crb": 0,                     // offsetToCarrier
    "cell_id": 1,                       // physCellId
    "center_frequency": 3750000000,     // of the carrier; or "arfcn": 650000, or "point_a_arfcn": 646724
    "frequency_shift": 0,               // the centre of the recording less that of the carrier
    "sample_rate": 122880000,           // of the recording
    "first_slot": 0,                    // the slot of a frame that begins at first_sample
    "first_sample": "auto"              // searches for the first of slots; or a number, without a search
  },
  // To decode transport blocks, remove the slashes of the next line, or give mcs_index below.
  // "coding": {"code_rate_x1024": 567, "redundancy_version": 0, "overhead": 0},   // DCI; xOverhead
  "allocation": {
    "rnti": "0x4601",                   // C-RNTI
    "scrambling_id": 1,                 // dataScramblingIdentityPUSCH; without it the cell_id
    "modulation": "64qam",              // or "mcs_table": "qam64", "mcs_index": 20
    "layers": 1,
    "resource_blocks": [0, 273],        // first and count; or "riv": 545, with "bwp" if it is not the carrier
    "symbols": [0, 14],                 // first and count; or "sliv": 27
    "slots": [4, 5, 14, 15],            // of each frame; without it all
    "transform_precoding": false,
    "dmrs": {
      "type": 1,                        // dmrs-Type
      "length": 1,                      // symbols of a DM-RS: 1, or 2 with maxLength len2 and a DCI that says so
      "ports": [0],                     // one for each layer
      "cdm_groups_without_data": 2,
      "mapping_type": "A",              // or "symbols": [2, 11] or "symbol_mask": "0x804" in place of all three
      "typeA_position": 2,              // dmrs-TypeA-Position
      "additional_positions": 1,        // dmrs-AdditionalPosition; without it 2
      "scrambling_id": 1,               // scramblingID0; without it the cell_id
      "n_scid": 0
    }
  }
}
)";

constexpr const char* pdsch = R"(// The link of a PDSCH recording. Change it to yours.
// docs/link.md has all keys, docs/rrc.md where they stand in an RRC log.
// Numbers are in hertz or counts. Whole numbers may be texts such as "0x4601".
{
  "direction": "downlink",
  "carrier": {
    "subcarrier_spacing": 30000,
    "resource_blocks": 106,             // carrierBandwidth
    "first_crb": 0,                     // offsetToCarrier
    "cell_id": 1,                       // physCellId
    "center_frequency": 3600000000,     // of the carrier; or "arfcn": 640000, or "point_a_arfcn": 638728
    "frequency_shift": 0,               // the centre of the recording less that of the carrier
    "sample_rate": 61440000,            // of the recording
    "first_slot": 0,                    // the slot of a frame that begins at first_sample
    "first_sample": "auto"              // searches for the first of slots; or a number, without a search
  },
  // To decode transport blocks, remove the slashes of the next line, or give mcs_index below.
  // "coding": {"code_rate_x1024": 682.5, "redundancy_version": 0, "overhead": 0},   // DCI; xOverhead
  "allocation": {
    "rnti": "0x4601",                   // C-RNTI; "0xFFFF" for SIB1
    "scrambling_id": 1,                 // dataScramblingIdentityPDSCH; without it the cell_id
    "codeword": 0,
    "modulation": "256qam",             // or "mcs_table": "qam256", "mcs_index": 20
    "layers": 2,
    "resource_blocks": [0, 106],        // first and count; or "riv": 211, with "bwp" if it is not the carrier
    "symbols": [1, 13],                 // first and count; or "sliv": 40
    "slots": [2, 3, 12, 13],            // of each frame; without it all
    // With phaseTrackingRS, remove the slashes of the next line; transform_precoding has other keys.
    // "ptrs": {"time_density": 1, "frequency_density": 2, "resource_element_offset": 0},
    "reserved": [                       // resource elements without data: CSI-RS, SSB
      {"symbols": [13], "resource_blocks": [0, 106], "subcarriers": [0, 4, 8]}
    ],
    "dmrs": {
      "type": 1,                        // dmrs-Type
      "length": 1,                      // symbols of a DM-RS: 1, or 2 with maxLength len2 and a DCI that says so
      "ports": [1000, 1001],            // one for each layer, in order
      "cdm_groups_without_data": 2,
      "mapping_type": "A",              // or "symbols": [2, 11] or "symbol_mask": "0x804" in place of all three
      "typeA_position": 2,              // dmrs-TypeA-Position
      "additional_positions": 1,        // dmrs-AdditionalPosition; without it 2
      "scrambling_id": 1,               // scramblingID0; without it the cell_id
      "n_scid": 0,
      "reference_crb": 0                // SIB1: the first CRB of CORESET 0
    }
  }
}
)";

}  // namespace

std::string example_link(const std::string& channel) {
    if (channel == "pusch") return pusch;
    if (channel == "pdsch") return pdsch;
    throw ArgumentError(fmt::format("--example-link {}: expected 'pusch' or 'pdsch'", channel));
}

}  // namespace phy::apps
