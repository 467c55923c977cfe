#include <string>

#include "phy/core/error.hpp"
#include "phy/dmrs/dmrs.hpp"
#include "phy/numerics/elementary.hpp"

namespace phy {
namespace {

void check_type(int type) {
    if (type == 1 || type == 2) return;
    throw ArgumentError("DM-RS type " + std::to_string(type) + ": expected 1 or 2");
}

int cdm_groups(int type) {
    return type == 1 ? 2 : 3;
}

}  // namespace

DmrsPort dmrs_port(int type, int port) {
    check_type(type);
    const int groups = cdm_groups(type);
    // The two ports of a CDM group differ in frequency; the second half of the ports needs two symbols.
    if (port < 0 || port >= 4 * groups)
        throw ArgumentError("DM-RS port " + std::to_string(port) + ": expected 0 to " +
                            std::to_string(4 * groups - 1) + " for type " + std::to_string(type));
    const int group = port / 2 % groups;
    return {.cdm_group = group,
            .delta = type == 1 ? group : 2 * group,
            .in_frequency = {1, port % 2 == 0 ? 1 : -1},
            .in_time = {1, port < 2 * groups ? 1 : -1}};
}

int pilots_per_resource_block(int type) {
    check_type(type);
    return type == 1 ? 6 : 4;
}

int pilot_subcarrier(int type, int cdm_group, int i) {
    check_type(type);
    return type == 1 ? 2 * i + cdm_group : 6 * (i / 2) + i % 2 + 2 * cdm_group;
}

float dmrs_amplitude(const DmrsConfig& dmrs) {
    constexpr float by_groups_without_data[] = {0.0F, 3.0F, 4.77F};
    const int groups = dmrs.cdm_groups_without_data;
    if (groups < 1 || groups > 3)
        throw ArgumentError("cdm_groups_without_data " + std::to_string(groups) + ": expected 1 to 3");
    const float power_db = dmrs.power_db.value_or(by_groups_without_data[groups - 1]);
    return static_cast<float>(detail::elementary::exp10(static_cast<double>(power_db) / 20.0));
}

}  // namespace phy
