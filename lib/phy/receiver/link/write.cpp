#include <cmath>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "phy/receiver/link.hpp"

namespace phy {
namespace {

// Keeps keys in the order of docs/link.md.
using Json = nlohmann::ordered_json;

/// Whole numbers have no fraction.
Json number(double value) {
    constexpr double max_exact = 0x1p53;
    if (std::trunc(value) == value && std::abs(value) <= max_exact) return static_cast<std::int64_t>(value);
    return value;
}

Json pair(const ResourceBlocks& range) {
    return {range.first, range.count};
}

Json carrier_of(const Link& link) {
    const LinkCarrier& carrier = link.carrier;
    Json json = {{"subcarrier_spacing", carrier.subcarrier_spacing},
                 {"resource_blocks", link.allocation.carrier_resource_blocks},
                 {"first_crb", link.allocation.first_crb},
                 {"k0", carrier.k0}};
    if (carrier.cell_id) json["cell_id"] = *carrier.cell_id;
    if (carrier.sample_rate) json["sample_rate"] = number(*carrier.sample_rate);
    if (carrier.center_frequency) json["center_frequency"] = number(*carrier.center_frequency);
    json["frequency_shift"] = number(carrier.frequency_shift);
    json["cyclic_prefix"] = "normal";
    json["first_slot"] = carrier.first_slot;
    json["first_sample"] = carrier.first_sample ? Json(*carrier.first_sample) : Json("auto");
    return json;
}

Json dmrs_of(const DmrsConfig& dmrs) {
    Json json = {{"type", dmrs.type},       {"length", dmrs.length},
                 {"ports", dmrs.ports},     {"cdm_groups_without_data", dmrs.cdm_groups_without_data},
                 {"symbols", dmrs.symbols}, {"scrambling_id", dmrs.scrambling_id},
                 {"n_scid", dmrs.n_scid}};
    constexpr const char* hoppings[] = {"none", "group", "sequence"};
    if (dmrs.transform_precoding) json["hopping"] = hoppings[static_cast<std::size_t>(dmrs.hopping)];
    json["reference_crb"] = dmrs.reference_crb;
    if (dmrs.power_db) json["power_db"] = number(static_cast<double>(*dmrs.power_db));
    return json;
}

/// The RNTI is that of the allocation.
Json ptrs_of(const SlotAllocation& allocation) {
    const PtrsConfig& ptrs = *allocation.ptrs;
    Json json = {{"time_density", ptrs.time_density}};
    if (allocation.dmrs.transform_precoding) {
        json["groups"] = ptrs.groups;
        json["samples_per_group"] = ptrs.samples_per_group;
    } else {
        json["frequency_density"] = ptrs.frequency_density;
        json["resource_element_offset"] = ptrs.resource_element_offset;
        if (!ptrs.ports.empty()) json["ports"] = ptrs.ports;
    }
    if (ptrs.power_db) json["power_db"] = number(static_cast<double>(*ptrs.power_db));
    return json;
}

Json allocation_of(const Link& link) {
    const SlotAllocation& allocation = link.allocation;
    Json json = {{"rnti", link.scrambling.rnti},
                 {"scrambling_id", link.scrambling.id},
                 {"codeword", link.scrambling.codeword},
                 {"modulation", std::string(to_string(link.modulation))},
                 {"layers", allocation.layers()}};
    if (allocation.resource_blocks.size() == 1) {
        json["resource_blocks"] = pair(allocation.resource_blocks.front());
    } else {
        for (const ResourceBlocks& range : allocation.resource_blocks)
            json["resource_blocks"].push_back(pair(range));
    }
    json["symbols"] = {allocation.first_symbol, allocation.symbols};
    if (!link.slots.empty()) json["slots"] = link.slots;
    for (const ReservedElements& reserved : allocation.reserved)
        json["reserved"].push_back({{"symbols", reserved.symbols},
                                    {"resource_blocks", pair(reserved.resource_blocks)},
                                    {"subcarriers", reserved.subcarriers}});
    if (!allocation.erased_subcarriers.empty()) json["erased_subcarriers"] = allocation.erased_subcarriers;
    json["transform_precoding"] = allocation.dmrs.transform_precoding;
    json["dmrs"] = dmrs_of(allocation.dmrs);
    if (allocation.ptrs) json["ptrs"] = ptrs_of(allocation);
    return json;
}

Json uci_of(const LinkUci& uci) {
    return {{"ack_bits", uci.ack_bits},
            {"csi1_bits", uci.csi1_bits},
            {"csi2_bits", uci.csi2_bits},
            {"ack_offset", number(uci.ack_offset)},
            {"csi1_offset", number(uci.csi1_offset)},
            {"csi2_offset", number(uci.csi2_offset)},
            {"scaling", number(uci.scaling)}};
}

Json coding_of(const LinkCoding& coding) {
    Json json = Json::object();
    if (coding.code_rate) json["code_rate"] = number(*coding.code_rate);
    if (coding.transport_block_size) json["transport_block_size"] = *coding.transport_block_size;
    json["redundancy_version"] = coding.redundancy_version;
    json["overhead"] = coding.overhead;
    if (coding.limited_buffer) json["limited_buffer"] = *coding.limited_buffer;
    if (coding.uci) json["uci"] = uci_of(*coding.uci);
    return json;
}

}  // namespace

std::string to_json(const Link& link) {
    Json json = {{"direction", link.direction == Direction::uplink ? "uplink" : "downlink"},
                 {"carrier", carrier_of(link)},
                 {"allocation", allocation_of(link)}};
    if (link.coding) json["coding"] = coding_of(*link.coding);
    constexpr int indent = 2;
    return json.dump(indent) + "\n";
}

}  // namespace phy
