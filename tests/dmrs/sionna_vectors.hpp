#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "phy/core/modulation.hpp"
#include "phy/dmrs/slot_allocation.hpp"
#include "support/npz.hpp"
#include "support/parse_json.hpp"

/// One slot of PUSCH from Sionna, without noise (sionna_*.npz).
namespace phy_test {

struct SionnaVector {
    std::string name;
    phy::SlotAllocation allocation;
    phy::Modulation modulation = phy::Modulation::qpsk;
    int subcarrier_spacing = 30000;  ///< Hz
    int slot = 0;
    std::uint32_t rnti = 0;
    std::uint32_t scrambling_id = 0;  ///< of the codeword
    char mapping_type = 'A';          ///< this and the following: as in DmrsPlacement
    int type_a_position = 2;
    int additional_positions = 0;
    std::vector<std::uint8_t> codeword;  ///< scrambled bits, one per byte
    std::vector<std::uint8_t> transport_block;
    std::vector<phy::cf32> grid;  ///< (ports, symbols_per_slot, subcarriers), one port per layer
};

/// With two or three groups without data, Sionna's DM-RS have exactly two or three times the power of data;
/// the standard's 3 and 4.77 dB are rounded.
inline float exact_power_db(int cdm_groups_without_data) {
    return static_cast<float>(10.0 * std::log10(cdm_groups_without_data));
}

inline SionnaVector read_sionna_vector(const std::filesystem::path& path) {
    const auto arrays = read_npz(path);
    const phy::test::JsonValue meta = phy::test::parse_json(arrays.at("meta").text());
    const phy::test::JsonValue& dmrs = meta["dmrs"];
    const auto integer = [](const phy::test::JsonValue& value) { return static_cast<int>(value.number()); };

    SionnaVector vector;
    vector.name = path.stem().string();
    phy::SlotAllocation& allocation = vector.allocation;
    allocation.carrier_resource_blocks = integer(meta["resource_blocks"]);
    allocation.resource_blocks = {{0, allocation.carrier_resource_blocks}};
    if (meta.has("ranges")) {  // those of vectors/make_sionna_vectors.py
        allocation.carrier_resource_blocks = integer(meta["carrier_resource_blocks"]);
        allocation.first_crb = integer(meta["first_crb"]);
        allocation.resource_blocks.clear();
        for (const auto& range : meta["ranges"].array())
            allocation.resource_blocks.push_back(
                {integer(range.array().at(0)), integer(range.array().at(1))});
    }
    allocation.first_symbol = integer(meta["symbols"].array().at(0));
    allocation.symbols = integer(meta["symbols"].array().at(1));
    allocation.dmrs.type = integer(dmrs["type"]);
    allocation.dmrs.length = integer(dmrs["length"]);
    allocation.dmrs.cdm_groups_without_data = integer(dmrs["cdm_groups_without_data"]);
    allocation.dmrs.n_scid = integer(dmrs["n_scid"]);
    allocation.dmrs.scrambling_id = static_cast<std::uint32_t>(integer(dmrs["scrambling_id"]));
    allocation.dmrs.power_db = exact_power_db(allocation.dmrs.cdm_groups_without_data);
    allocation.dmrs.ports.clear();
    for (const auto& port : dmrs["ports"].array())
        allocation.dmrs.ports.push_back(integer(port));
    allocation.dmrs.symbols.clear();
    for (const auto& symbol : dmrs["symbols"].array())
        allocation.dmrs.symbols.push_back(integer(symbol));
    vector.modulation = phy::parse_modulation(meta["modulation"].string());
    vector.subcarrier_spacing = integer(meta["subcarrier_spacing"]);
    vector.slot = integer(meta["slot"]);
    vector.rnti = static_cast<std::uint32_t>(integer(meta["rnti"]));
    vector.scrambling_id = static_cast<std::uint32_t>(integer(meta["scrambling_id"]));
    vector.mapping_type = dmrs["mapping_type"].string().at(0);
    vector.type_a_position = integer(dmrs["typeA_position"]);
    vector.additional_positions = integer(dmrs["additional_positions"]);
    vector.codeword = arrays.at("codeword").as<std::uint8_t>("|u1");
    vector.transport_block = arrays.at("transport_block").as<std::uint8_t>("|u1");

    // A stored grid ends with its allocation.
    const NpyArray& stored = arrays.at("grid");
    const auto elements = stored.as<phy::cf32>("<c8");
    const std::size_t ports = stored.shape.at(0);
    const std::size_t of_port = elements.size() / ports;
    const auto slot_size = static_cast<std::size_t>(phy::symbols_per_slot * allocation.subcarriers());
    vector.grid.resize(ports * slot_size);
    for (std::size_t port = 0; port < ports; ++port)
        std::copy_n(elements.begin() + static_cast<std::ptrdiff_t>(port * of_port), of_port,
                    vector.grid.begin() + static_cast<std::ptrdiff_t>(port * slot_size));
    return vector;
}

/// All vectors, ordered by name.
inline const std::vector<SionnaVector>& sionna_vectors() {
    static const std::vector<SionnaVector> all = [] {
        std::vector<std::filesystem::path> paths;
        for (const auto& entry : std::filesystem::directory_iterator(vectors_directory())) {
            const std::string name = entry.path().filename().string();
            if (name.starts_with("sionna_") && name.ends_with(".npz")) paths.push_back(entry.path());
        }
        // The number in tests/vectors; PHY_VECTORS may name a folder with more.
        constexpr std::size_t min_vectors = 14;
        if (paths.size() < min_vectors)
            throw std::runtime_error("vectors are missing in " + vectors_directory().string());
        std::sort(paths.begin(), paths.end());
        std::vector<SionnaVector> vectors;
        for (const auto& path : paths)
            vectors.push_back(read_sionna_vector(path));
        return vectors;
    }();
    return all;
}

}  // namespace phy_test
