#include "phy/receiver/link/words.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <tuple>

#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

/// A range of the global frequency raster, TS 38.104 table 5.4.2.1-1.
struct RasterRange {
    int first_arfcn;
    double first_frequency;
    double step;
};

constexpr RasterRange global_raster[] = {
    {0, 0.0, 5e3}, {600'000, 3'000'000'000.0, 15e3}, {2'016'667, 24'250'080'000.0, 60e3}};
constexpr WholeRange arfcns = {0, 3'279'165};

/// In RRC, locationAndBandwidth is an RIV of so many resource blocks (TS 38.213 clause 12).
constexpr int max_bwp_size = 275;

constexpr int first_pdsch_port = 1000;
constexpr WholeRange ports_from_0 = {0, 11};
constexpr WholeRange pdsch_ports = {first_pdsch_port, first_pdsch_port + 11};

double frequency_of_arfcn(int arfcn) {
    RasterRange range = global_raster[0];
    for (const RasterRange& candidate : global_raster)
        if (arfcn >= candidate.first_arfcn) range = candidate;
    return range.first_frequency + range.step * (arfcn - range.first_arfcn);
}

/// Point A is subcarrier 0 of common resource block 0.
double center_above_point_a(double point_a, const Link& link) {
    const SlotAllocation& allocation = link.allocation;
    const int subcarriers = subcarriers_per_resource_block * allocation.first_crb +
                            subcarriers_per_resource_block / 2 * allocation.carrier_resource_blocks -
                            link.carrier.k0;
    return point_a + static_cast<double>(subcarriers) * link.carrier.subcarrier_spacing;
}

std::string name_of(McsUse use) {
    if (use == pdsch) return "PDSCH";
    return use == pusch ? "PUSCH" : "PUSCH with transform precoding";
}

/// A port as logs name it may be a text; others stay.
Json port_number(const Json& given) {
    if (!given.is_string()) return given;
    const auto& text = given.get_ref<const std::string&>();
    const bool is_hexadecimal = text.starts_with("0x");
    int port = 0;
    const char* const end = text.data() + text.size();
    const auto [stopped, error] =
        std::from_chars(text.data() + (is_hexadecimal ? 2 : 0), end, port, is_hexadecimal ? 16 : 10);
    return error == std::errc() && stopped == end ? Json(port) : given;
}

bool is_pdsch_port(const Json& port) {
    return port.is_number() && port >= first_pdsch_port;
}

const McsTable& read_mcs_table(const JsonObject& allocation, const Link& link) {
    const McsUse use = mcs_use(link);
    const Json* const given = allocation.find("mcs_table");
    const Json value = given != nullptr ? *given : Json("qam64");
    std::string names;
    for (const McsTable& table : mcs_tables()) {
        if ((table.uses & use) == 0) continue;
        if (value == table.name) return table;
        names += (names.empty() ? "\"" : ", \"") + std::string(table.name) + "\"";
    }
    throw_expected(allocation.path("mcs_table"), value,
                   "one of " + names + ", the tables of " + name_of(use));
}

}  // namespace

std::optional<double> read_center_frequency(const JsonObject& carrier, const Link& link) {
    const std::string_view key = carrier.one_of({"center_frequency", "arfcn", "point_a_arfcn"});
    if (!carrier.has(key)) return std::nullopt;
    if (key == "center_frequency") return carrier.number_or(key, 0.0);
    const double frequency = frequency_of_arfcn(carrier.whole(key, arfcns));
    return key == "arfcn" ? frequency : center_above_point_a(frequency, link);
}

std::pair<int, int> read_indicator(const JsonObject& object, std::string_view key, int size) {
    const int value = object.whole(key, {0, size * (size + 1) / 2 - 1});
    const int count = value / size + 1;
    const int first = value % size;
    if (first + count <= size) return {first, count};
    return {size - 1 - first, size + 2 - count};
}

ResourceBlocks read_bwp(const JsonObject& allocation, int carrier_resource_blocks) {
    const Json* const given = allocation.find("bwp");
    if (given == nullptr) return {.first = 0, .count = carrier_resource_blocks};
    const JsonObject object(allocation.path("bwp"), *given, {"start", "size", "location_and_bandwidth"});
    static_cast<void>(object.one_of({"size", "location_and_bandwidth"}));
    ResourceBlocks bwp;
    if (object.one_of({"start", "location_and_bandwidth"}) == "start")
        bwp = {.first = object.whole("start", {0, max_bwp_size - 1}),
               .count = object.whole("size", {1, max_bwp_size})};
    else
        std::tie(bwp.first, bwp.count) = read_indicator(object, "location_and_bandwidth", max_bwp_size);
    if (bwp.first + bwp.count > carrier_resource_blocks)
        throw ArgumentError(allocation.path("bwp") + " ends with resource block " +
                            std::to_string(bwp.first + bwp.count - 1) + " of the carrier: expected at most " +
                            std::to_string(carrier_resource_blocks - 1));
    return bwp;
}

Mcs read_mcs(const JsonObject& allocation, const Link& link) {
    const McsTable& table = read_mcs_table(allocation, link);
    const bool has_pi2_bpsk = allocation.boolean_or("tp_pi2bpsk", false);
    if (has_pi2_bpsk && mcs_use(link) != precoded_pusch)
        throw ArgumentError(allocation.path("tp_pi2bpsk") +
                            " is true: expected false without transform_precoding");
    const int index = allocation.whole("mcs_index", {0, 31});
    if (index >= table.ends.back())
        throw ArgumentError(
            allocation.path("mcs_index") + " is " + std::to_string(index) + ": expected 0 to " +
            std::to_string(table.ends.back() - 1) + " in table " + table.name +
            "; it is reserved for retransmissions and has a modulation, but no code rate: "
            "give modulation instead, and to decode coding.transport_block_size and the code rate "
            "of the first transmission");
    return table.at(index, has_pi2_bpsk);
}

std::vector<int> read_ports(const JsonObject& dmrs, Direction direction) {
    const std::string path = dmrs.path("ports");
    const Json& list = dmrs.at("ports");
    if (!list.is_array()) throw_expected(path, list, "a list of whole numbers");
    if (list.empty()) throw ArgumentError(path + " is empty: expected a port for each layer");
    const bool are_of_pdsch = is_pdsch_port(port_number(list[0]));
    const WholeRange range = are_of_pdsch ? pdsch_ports : ports_from_0;
    std::vector<int> ports;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const std::string path_of_port = path + "[" + std::to_string(i) + "]";
        const Json port = port_number(list[i]);
        if (is_pdsch_port(port) && direction == Direction::uplink)
            throw_expected(path_of_port, port,
                           "0 to 11 on the uplink; ports from 1000 on are those of PDSCH");
        if (is_pdsch_port(port) != are_of_pdsch)
            throw_expected(path_of_port, port, "all ports from 0 on, or all from 1000 on");
        ports.push_back(static_cast<int>(whole_number(path_of_port, port, range) - range.first));
    }
    return ports;
}

std::vector<int> read_symbol_mask(const JsonObject& object, std::string_view key) {
    const int mask = object.whole(key, {1, (1 << symbols_per_slot) - 1});
    std::vector<int> symbols;
    for (int symbol = 0; symbol < symbols_per_slot; ++symbol)
        if ((mask >> symbol & 1) != 0) symbols.push_back(symbol);
    return symbols;
}

}  // namespace phy::detail
