#include <algorithm>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "phy/core/error.hpp"
#include "phy/receiver/link.hpp"
#include "phy/receiver/link/json_object.hpp"
#include "phy/receiver/link/words.hpp"

namespace phy {
namespace {

using detail::Json;
using detail::JsonObject;
using detail::WholeRange;

/// Ranges of single values of a link.
constexpr WholeRange cell_ids = {0, 1007};
constexpr WholeRange carrier_sizes = {1, 275};
constexpr WholeRange resource_block_numbers = {0, 4095};
constexpr WholeRange symbol_numbers = {0, symbols_per_slot - 1};
constexpr WholeRange symbol_counts = {1, symbols_per_slot};
constexpr WholeRange layer_counts = {1, 4};
constexpr WholeRange largest_frame = {0, 79};
/// Integers that binary64 represents exactly.
constexpr WholeRange sample_numbers = {0, std::int64_t{1} << 53};

int spacing_of(const JsonObject& carrier) {
    const Json& value = carrier.at("subcarrier_spacing");
    for (const int spacing : {15000, 30000, 60000, 120000}) {
        if (value.is_number() && value == spacing) return spacing;
    }
    detail::throw_expected(carrier.path("subcarrier_spacing"), value, "15000, 30000, 60000 or 120000");
}

std::optional<double> optional_number(const JsonObject& object, std::string_view key) {
    if (!object.has(key)) return std::nullopt;
    return object.number_or(key, 0.0);
}

std::optional<std::uint64_t> first_sample_of(const JsonObject& carrier) {
    const Json* const value = carrier.find("first_sample");
    if (value == nullptr) return 0;
    if (*value == "auto") return std::nullopt;
    if (!value->is_number() && !(value->is_string() && value->get<std::string>().starts_with("0x")))
        detail::throw_expected(carrier.path("first_sample"), *value, "a whole number or \"auto\"");
    return static_cast<std::uint64_t>(
        detail::whole_number(carrier.path("first_sample"), *value, sample_numbers));
}

void read_carrier(const JsonObject& object, Link& link) {
    LinkCarrier& carrier = link.carrier;
    carrier.subcarrier_spacing = spacing_of(object);
    link.allocation.carrier_resource_blocks = object.whole("resource_blocks", carrier_sizes);
    link.allocation.first_crb = object.whole_or("first_crb", resource_block_numbers, 0);
    carrier.k0 = object.whole_or("k0", {-6, 6}, 0);
    if (object.has("cell_id")) carrier.cell_id = object.whole("cell_id", cell_ids);
    carrier.sample_rate = optional_number(object, "sample_rate");
    carrier.center_frequency = detail::read_center_frequency(object, link);
    carrier.frequency_shift = object.number_or("frequency_shift", 0.0);
    if (object.has("cyclic_prefix")) static_cast<void>(object.choice("cyclic_prefix", {"normal"}));
    carrier.first_slot = object.whole_or("first_slot", largest_frame, 0);
    carrier.first_sample = first_sample_of(object);
}

/// First and count.
std::pair<int, int> pair_of(const std::string& path, const Json& value, detail::WholeRange first,
                            detail::WholeRange count) {
    if (!value.is_array() || value.size() != 2)
        detail::throw_expected(path, value, "a pair of a first number and a count");
    return {static_cast<int>(detail::whole_number(path + "[0]", value[0], first)),
            static_cast<int>(detail::whole_number(path + "[1]", value[1], count))};
}

ResourceBlocks resource_blocks_of(const std::string& path, const Json& value) {
    const auto [first, count] = pair_of(path, value, resource_block_numbers, carrier_sizes);
    return {.first = first, .count = count};
}

/// One pair, or a list of pairs.
std::vector<ResourceBlocks> resource_blocks_of(const JsonObject& object) {
    const std::string path = object.path("resource_blocks");
    const Json& value = object.at("resource_blocks");
    if (!value.is_array() || value.empty())
        detail::throw_expected(path, value, "a pair of a first number and a count, or a list of such pairs");
    if (!value[0].is_array()) return {resource_blocks_of(path, value)};
    std::vector<ResourceBlocks> ranges;
    for (std::size_t i = 0; i < value.size(); ++i)
        ranges.push_back(resource_blocks_of(path + "[" + std::to_string(i) + "]", value[i]));
    return ranges;
}

/// resource_blocks or riv, both in the bandwidth part.
std::vector<ResourceBlocks> allocated_blocks(const JsonObject& allocation, int carrier_resource_blocks) {
    const ResourceBlocks bwp = detail::read_bwp(allocation, carrier_resource_blocks);
    if (allocation.one_of({"resource_blocks", "riv"}) == "riv") {
        const auto [first, count] = detail::read_indicator(allocation, "riv", bwp.count);
        return {{.first = bwp.first + first, .count = count}};
    }
    std::vector<ResourceBlocks> ranges = resource_blocks_of(allocation);
    for (ResourceBlocks& range : ranges) {
        if (allocation.has("bwp") && range.first + range.count > bwp.count)
            throw ArgumentError(allocation.path("resource_blocks") + " ends with resource block " +
                                std::to_string(range.first + range.count - 1) +
                                " of allocation.bwp: expected at most " + std::to_string(bwp.count - 1));
        range.first += bwp.first;
    }
    return ranges;
}

/// First and count: symbols or sliv.
std::pair<int, int> allocated_symbols(const JsonObject& allocation) {
    const std::string_view key = allocation.one_of({"symbols", "sliv"});
    if (!allocation.has(key)) return {0, symbols_per_slot};
    if (key == "sliv") return detail::read_indicator(allocation, key, symbols_per_slot);
    return pair_of(allocation.path(key), allocation.at(key), symbol_numbers, symbol_counts);
}

void read_reserved(const JsonObject& allocation, std::vector<ReservedElements>& reserved) {
    const Json* const list = allocation.find("reserved");
    if (list == nullptr) return;
    const std::string path = allocation.path("reserved");
    if (!list->is_array()) detail::throw_expected(path, *list, "a list of objects");
    for (std::size_t i = 0; i < list->size(); ++i) {
        const JsonObject object(path + "[" + std::to_string(i) + "]", (*list)[i],
                                {"symbols", "resource_blocks", "subcarriers"});
        const auto symbols =
            detail::whole_numbers(object.path("symbols"), object.at("symbols"), symbol_numbers);
        const auto subcarriers = detail::whole_numbers(object.path("subcarriers"), object.at("subcarriers"),
                                                       {0, subcarriers_per_resource_block - 1});
        for (const ResourceBlocks& range : resource_blocks_of(object))
            reserved.push_back({.symbols = symbols, .resource_blocks = range, .subcarriers = subcarriers});
    }
}

std::vector<int> placed_symbols(const JsonObject& dmrs, const Link& link) {
    DmrsPlacement placement = {.direction = link.direction,
                               .first_symbol = link.allocation.first_symbol,
                               .symbols = link.allocation.symbols,
                               .length = link.allocation.dmrs.length};
    placement.mapping_type = dmrs.choice("mapping_type", {"A", "B"}) == 0 ? 'A' : 'B';
    placement.type_a_position = placement.mapping_type == 'A' ? dmrs.whole("typeA_position", {2, 3})
                                                              : dmrs.whole_or("typeA_position", {2, 3}, 2);
    placement.additional_positions = dmrs.whole("additional_positions", {0, 3});
    try {
        return dmrs_symbols(placement);
    } catch (const ArgumentError& error) {
        throw ArgumentError(dmrs.path("mapping_type") + ": " + error.what());
    }
}

std::string list_text(const std::vector<int>& numbers) {
    return Json(numbers).dump();
}

std::vector<int> dmrs_symbols_of(const JsonObject& dmrs, const Link& link) {
    const std::string_view key = dmrs.one_of({"symbols", "symbol_mask"});
    const bool is_placed =
        dmrs.has("mapping_type") || dmrs.has("typeA_position") || dmrs.has("additional_positions");
    if (!is_placed && !dmrs.has(key))
        throw ArgumentError(
            dmrs.path("symbols") +
            ": missing; expected it, or mapping_type, typeA_position and additional_positions");
    if (!dmrs.has(key)) return placed_symbols(dmrs, link);
    auto listed = key == "symbol_mask" ? detail::read_symbol_mask(dmrs, key)
                                       : detail::whole_numbers(dmrs.path(key), dmrs.at(key), symbol_numbers);
    if (is_placed && listed != placed_symbols(dmrs, link))
        throw ArgumentError(dmrs.path(key) + " is " + list_text(listed) + ": expected " +
                            list_text(placed_symbols(dmrs, link)) +
                            ", the positions by mapping_type, or no mapping_type");
    return listed;
}

/// The object's identity, else the cell's.
std::uint32_t identity_of(const JsonObject& object, const LinkCarrier& carrier, detail::WholeRange range) {
    if (object.has("scrambling_id") || carrier.cell_id)
        return static_cast<std::uint32_t>(
            object.whole_or("scrambling_id", range, carrier.cell_id.value_or(0)));
    throw ArgumentError(object.path("scrambling_id") + ": missing; expected it or carrier.cell_id");
}

void read_dmrs(const JsonObject& object, Link& link) {
    DmrsConfig& dmrs = link.allocation.dmrs;
    dmrs.type = object.whole("type", {1, 2});
    dmrs.length = object.whole_or("length", {1, 2}, 1);
    dmrs.ports = detail::read_ports(object, link.direction);
    dmrs.cdm_groups_without_data = object.whole("cdm_groups_without_data", {1, 3});
    dmrs.symbols = dmrs_symbols_of(object, link);
    const bool is_low_papr = dmrs.transform_precoding;
    dmrs.scrambling_id =
        identity_of(object, link.carrier, is_low_papr ? cell_ids : detail::WholeRange{0, 65535});
    dmrs.n_scid = object.whole_or("n_scid", {0, 1}, 0);
    if (object.has("hopping"))
        dmrs.hopping = static_cast<SequenceHopping>(object.choice("hopping", {"none", "group", "sequence"}));
    dmrs.reference_crb = object.whole_or("reference_crb", resource_block_numbers, 0);
    if (const auto power_db = optional_number(object, "power_db"))
        dmrs.power_db = static_cast<float>(*power_db);
}

/// Throws for keys that PT-RS have with another transform_precoding.
void refuse_other_ptrs(const std::string& path, const Json& value, bool is_precoded) {
    const std::vector<const char*> others =
        is_precoded ? std::vector{"frequency_density", "resource_element_offset", "ports"}
                    : std::vector{"groups", "samples_per_group"};
    for (const char* const key : others)
        if (value.is_object() && value.contains(key))
            throw ArgumentError(path + "." + key + ": expected transform_precoding " +
                                (is_precoded ? "false" : "true") + " with it");
}

PtrsConfig ptrs_of(const std::string& path, const Json& value, const Link& link) {
    const bool is_precoded = link.allocation.dmrs.transform_precoding;
    refuse_other_ptrs(path, value, is_precoded);
    const JsonObject object =
        is_precoded ? JsonObject(path, value, {"time_density", "groups", "samples_per_group", "power_db"})
                    : JsonObject(path, value,
                                 {"time_density", "frequency_density", "resource_element_offset", "ports",
                                  "power_db"});
    PtrsConfig ptrs;
    ptrs.time_density = object.whole("time_density", {1, is_precoded ? 2 : 4});
    if (is_precoded) {
        ptrs.groups = object.whole("groups", {2, 8});
        ptrs.samples_per_group = object.whole("samples_per_group", {2, 4});
    } else {
        ptrs.frequency_density = object.whole("frequency_density", {2, 4});
        ptrs.resource_element_offset = object.whole_or("resource_element_offset", {0, 3}, 0);
    }
    if (object.has("ports")) ptrs.ports = detail::read_ports(object, link.direction);
    ptrs.rnti = link.scrambling.rnti;
    if (const auto power_db = optional_number(object, "power_db"))
        ptrs.power_db = static_cast<float>(*power_db);
    return ptrs;
}

std::vector<int> slots_of(const std::string& path, const Json& value) {
    if (value.is_array() && value.empty()) detail::throw_expected(path, value, "at least one slot");
    return detail::whole_numbers(path, value, largest_frame);
}

/// modulation, or mcs_index with its table, which gives a code rate too.
void read_modulation(const JsonObject& allocation, Link& link) {
    if (allocation.one_of({"modulation", "mcs_index"}) == "mcs_index") {
        const detail::Mcs mcs = detail::read_mcs(allocation, link);
        link.modulation = mcs.modulation;
        link.coding = {.code_rate = mcs.code_rate};
        return;
    }
    for (const std::string_view key : {"mcs_table", "tp_pi2bpsk"})
        if (allocation.has(key))
            throw ArgumentError(allocation.path(key) + ": given without mcs_index; expected both or neither");
    try {
        link.modulation =
            parse_modulation(detail::text(allocation.path("modulation"), allocation.at("modulation")));
    } catch (const ArgumentError& error) {
        // Errors about a value that is no string have the path already.
        if (!allocation.at("modulation").is_string()) throw;
        throw ArgumentError(allocation.path("modulation") + ": " + detail::one_line(error.what()));
    }
}

JsonObject dmrs_of(const JsonObject& allocation) {
    return {allocation.path("dmrs"),
            allocation.at("dmrs"),
            {"type", "length", "ports", "cdm_groups_without_data", "symbols", "symbol_mask", "mapping_type",
             "typeA_position", "additional_positions", "scrambling_id", "n_scid", "hopping", "reference_crb",
             "power_db"}};
}

/// One error for all missing keys that have no default. A single one is named where it is read.
void require_keys(const JsonObject& carrier, const JsonObject& allocation) {
    std::vector<std::string> missing;
    const auto look_in = [&missing](const JsonObject& object, std::initializer_list<std::string_view> keys) {
        for (const std::string_view key : keys)
            if (!object.has(key)) missing.push_back(object.path(key));
    };
    look_in(carrier, {"subcarrier_spacing", "resource_blocks"});
    look_in(allocation, {"rnti", allocation.one_of({"modulation", "mcs_index"}), "layers",
                         allocation.one_of({"resource_blocks", "riv"}), "dmrs"});
    bool needs_identity = !allocation.has("scrambling_id");
    if (allocation.has("dmrs")) {
        const JsonObject dmrs = dmrs_of(allocation);
        look_in(dmrs, {"type", "ports", "cdm_groups_without_data"});
        if (!dmrs.has("mapping_type")) look_in(dmrs, {dmrs.one_of({"symbols", "symbol_mask"})});
        if (dmrs.has("mapping_type")) look_in(dmrs, {"additional_positions"});
        needs_identity = needs_identity || !dmrs.has("scrambling_id");
    }
    if (needs_identity) look_in(carrier, {"cell_id"});
    if (missing.size() < 2) return;
    std::string list;
    for (const std::string& path : missing)
        list += (list.empty() ? "" : ", ") + path;
    throw ArgumentError(list + ": missing; they have no defaults");
}

void read_allocation(const JsonObject& object, Link& link) {
    SlotAllocation& allocation = link.allocation;
    link.scrambling.rnti = static_cast<std::uint32_t>(object.whole("rnti", {0, 65535}));
    link.scrambling.id = identity_of(object, link.carrier, {0, 1023});
    link.scrambling.codeword = object.whole_or("codeword", {0, 1}, 0);
    allocation.dmrs.transform_precoding = object.boolean_or("transform_precoding", false);
    read_modulation(object, link);
    const int layers = object.whole("layers", layer_counts);
    allocation.resource_blocks = allocated_blocks(object, allocation.carrier_resource_blocks);
    std::tie(allocation.first_symbol, allocation.symbols) = allocated_symbols(object);
    if (const Json* const slots = object.find("slots")) link.slots = slots_of(object.path("slots"), *slots);
    read_reserved(object, allocation.reserved);
    if (const Json* const erased = object.find("erased_subcarriers"))
        allocation.erased_subcarriers = detail::whole_numbers(object.path("erased_subcarriers"), *erased,
                                                              {0, allocation.subcarriers() - 1});
    read_dmrs(dmrs_of(object), link);
    if (const Json* const ptrs = object.find("ptrs"))
        allocation.ptrs = ptrs_of(object.path("ptrs"), *ptrs, link);
    if (layers != allocation.layers())
        throw ArgumentError(object.path("layers") + " is " + std::to_string(layers) + ": expected " +
                            std::to_string(allocation.layers()) + ", one for each of allocation.dmrs.ports");
}

/// Code rates, of which the link has one already if it has an MCS index.
void read_code_rate(const JsonObject& object, LinkCoding& coding) {
    const std::string_view key = object.one_of({"code_rate", "code_rate_x1024"});
    if (!object.has(key)) return;
    if (coding.code_rate)
        throw ArgumentError(object.path(key) +
                            ": given beside allocation.mcs_index, whose table has the code rate; expected "
                            "one of them");
    const double rate = object.number_or(key, 0.0);
    const bool is_scaled = key == "code_rate_x1024";
    if (is_scaled && !(rate > 0.0 && rate <= 1024.0))
        detail::throw_expected(object.path(key), object.at(key), "above 0, at most 1024");
    coding.code_rate = is_scaled ? rate / 1024 : rate;
}

std::optional<std::size_t> optional_bits(const JsonObject& object, std::string_view key) {
    if (!object.has(key)) return std::nullopt;
    return static_cast<std::size_t>(object.whole(key, {1, std::numeric_limits<int>::max()}));
}

LinkUci read_uci(const JsonObject& object) {
    constexpr WholeRange sizes = {0, 1706};
    LinkUci uci;
    const auto bits = [&](std::string_view key) {
        return static_cast<std::size_t>(object.whole_or(key, sizes, 0));
    };
    uci.ack_bits = bits("ack_bits");
    uci.csi1_bits = bits("csi1_bits");
    uci.csi2_bits = bits("csi2_bits");
    uci.ack_offset = object.number_or("ack_offset", uci.ack_offset);
    uci.csi1_offset = object.number_or("csi1_offset", uci.csi1_offset);
    uci.csi2_offset = object.number_or("csi2_offset", uci.csi2_offset);
    uci.scaling = object.number_or("scaling", uci.scaling);
    return uci;
}

void read_coding(const JsonObject& object, Link& link) {
    if (!link.coding) link.coding.emplace();
    LinkCoding& coding = *link.coding;
    read_code_rate(object, coding);
    coding.transport_block_size = optional_bits(object, "transport_block_size");
    coding.redundancy_version = object.whole_or("redundancy_version", {0, redundancy_versions - 1}, 0);
    coding.overhead = object.whole_or("overhead", {0, 18}, 0);
    coding.limited_buffer = optional_bits(object, "limited_buffer");
    if (const Json* const uci = object.find("uci"))
        coding.uci = read_uci(
            {object.path("uci"),
             *uci,
             {"ack_bits", "csi1_bits", "csi2_bits", "ack_offset", "csi1_offset", "csi2_offset", "scaling"}});
}

}  // namespace

Link parse_link(std::string_view json) {
    const Json document = detail::parse_json(json);
    Link link;
    const JsonObject object("", document, {"direction", "carrier", "allocation", "coding"});
    link.direction = static_cast<Direction>(object.choice("direction", {"uplink", "downlink"}));
    const JsonObject carrier("carrier", object.at("carrier"),
                             {"subcarrier_spacing", "resource_blocks", "first_crb", "k0", "cell_id",
                              "sample_rate", "center_frequency", "arfcn", "point_a_arfcn", "frequency_shift",
                              "cyclic_prefix", "first_slot", "first_sample"});
    const JsonObject allocation(
        "allocation", object.at("allocation"),
        {"rnti", "scrambling_id", "codeword", "modulation", "mcs_table", "mcs_index", "tp_pi2bpsk", "layers",
         "bwp", "resource_blocks", "riv", "symbols", "sliv", "slots", "reserved", "erased_subcarriers",
         "transform_precoding", "dmrs", "ptrs"});
    require_keys(carrier, allocation);
    read_carrier(carrier, link);
    read_allocation(allocation, link);
    if (const Json* const coding = object.find("coding"))
        read_coding({"coding",
                     *coding,
                     {"code_rate", "code_rate_x1024", "transport_block_size", "redundancy_version",
                      "overhead", "limited_buffer", "uci"}},
                    link);
    check(link);
    return link;
}

Link read_link(const std::filesystem::path& file) {
    std::error_code ignored;
    const auto status = std::filesystem::status(file, ignored);
    if (status.type() == std::filesystem::file_type::not_found)
        throw FileError(file.string() + ": no such file");
    // Opening a pipe would wait for its writer.
    if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
        throw FileError(file.string() + ": cannot be read, is not a regular file; expected a link in JSON");
    std::ifstream in(file, std::ios::binary);
    if (!in) throw FileError(file.string() + ": cannot be read; expected a link in JSON");
    // The max size for parse_link(), plus one byte that makes it throw.
    std::string text((std::size_t{1} << 20) + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (in.bad()) throw FileError(file.string() + ": cannot be read");
    try {
        return parse_link(text);
    } catch (const ArgumentError& error) {
        throw FileError(file.string() + ": " + error.what());
    }
}

}  // namespace phy
