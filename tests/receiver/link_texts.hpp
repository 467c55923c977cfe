#pragma once

#include <gtest/gtest.h>

#include <string>

#include <nlohmann/json.hpp>

#include "phy/core/error.hpp"
#include "phy/receiver/link.hpp"
#include "support/page.hpp"

/// Texts of links, and changes to them.
namespace phy_test {

using LinkJson = nlohmann::ordered_json;

/// Every key but a code rate, with comments as users may write them.
inline const char* const full_link = R"({
  "direction": "uplink",                 // or "downlink"
  "carrier": {
    "subcarrier_spacing": 30000,
    "resource_blocks": 273,
    "first_crb": 0,
    "k0": 0,
    "cell_id": 1,
    "sample_rate": 122880000,
    "center_frequency": 3750000000,      /* beyond 32 bits */
    "frequency_shift": 0,
    "cyclic_prefix": "normal",
    "first_slot": 0,
    "first_sample": 0
  },
  "allocation": {
    "rnti": 17921, "scrambling_id": 1, "codeword": 0,
    "modulation": "256qam", "layers": 1,
    "resource_blocks": [0, 273],
    "symbols": [0, 14],
    "slots": [0, 1, 2],
    "reserved": [{"symbols": [0, 1], "resource_blocks": [0, 20], "subcarriers": [0, 4, 8]}],
    "transform_precoding": false,
    "dmrs": {
      "type": 1, "length": 1, "ports": [0], "cdm_groups_without_data": 2,
      "symbols": [2, 11],
      "scrambling_id": 1, "n_scid": 0,
      "reference_crb": 0,
      "power_db": 3
    }
  },
  "coding": {
    "transport_block_size": 3752, "redundancy_version": 2, "overhead": 6, "limited_buffer": 1277992
  }
})";

/// Only keys without a default.
inline const char* const short_link = R"({
  "direction": "uplink",
  "carrier": {"subcarrier_spacing": 15000, "resource_blocks": 25, "cell_id": 77},
  "allocation": {
    "rnti": 4660, "modulation": "qpsk", "layers": 2, "resource_blocks": [3, 20],
    "dmrs": {"type": 2, "ports": [0, 3], "cdm_groups_without_data": 2, "symbols": [2]}
  }
})";

/// The full link without reserved elements and slots, in the words of RRC and DCI, and with their coding.
inline const char* const link_in_words = R"({
  "direction": "uplink",
  "carrier": {"subcarrier_spacing": 30000, "resource_blocks": 273, "cell_id": 1, "sample_rate": 122880000,
              "point_a_arfcn": 646724},
  "allocation": {
    "rnti": "0x4601", "mcs_table": "qam256", "mcs_index": 20, "tp_pi2bpsk": false, "layers": 1,
    "bwp": {"location_and_bandwidth": 1099}, "riv": 545, "sliv": 27,
    "dmrs": {"type": 1, "ports": [0], "cdm_groups_without_data": 2, "symbol_mask": "0x804", "power_db": 3}
  }
})";

/// The first link that a page of docs/ shows.
inline std::string link_of_page(const std::string& name) {
    const std::string page = phy::test::read_page(name);
    const std::string fence = "```json\n";
    const std::size_t first = page.find(fence) + fence.size();
    return page.substr(first, page.find("```", first) - first);
}

/// Changes the value at a path such as "/carrier/k0".
inline LinkJson changed(const char* link, const std::string& path, LinkJson value) {
    LinkJson json = LinkJson::parse(link, nullptr, true, true);
    json[LinkJson::json_pointer(path)] = std::move(value);
    return json;
}

inline LinkJson without(const char* link, const std::string& path) {
    LinkJson json = LinkJson::parse(link, nullptr, true, true);
    const LinkJson::json_pointer pointer(path);
    json[pointer.parent_pointer()].erase(pointer.back());
    return json;
}

/// The error of parse_link(), or "".
inline std::string error_of(const std::string& text) {
    try {
        static_cast<void>(phy::parse_link(text));
        return {};
    } catch (const phy::ArgumentError& error) {
        return error.what();
    }
}

inline std::string error_of(const LinkJson& link) {
    return error_of(link.dump());
}

/// Expects an error of one line that has all of these words.
inline void expect_error(const std::string& error, std::initializer_list<const char*> parts) {
    EXPECT_FALSE(error.empty());
    EXPECT_EQ(error.find('\n'), std::string::npos) << error;
    for (const char* const part : parts)
        EXPECT_NE(error.find(part), std::string::npos) << "'" << part << "' in: " << error;
}

}  // namespace phy_test
