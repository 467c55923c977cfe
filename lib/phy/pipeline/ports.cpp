#include "phy/pipeline/ports.hpp"

#include <algorithm>
#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

std::string describe(const std::string& owner, const Port& port) {
    return owner + ": port '" + port.name + "' ";
}

void check_whole_records(const std::string& owner, const std::vector<Port>& ports, std::size_t granularity) {
    for (const Port& port : ports) {
        if (granularity % port.items != 0)
            throw ArgumentError(describe(owner, port) + "has records for " + std::to_string(port.items) +
                                " items: expected a divisor of the granularity, " +
                                std::to_string(granularity));
    }
}

}  // namespace

void check_ports(const std::string& owner, const std::vector<Port>& ports) {
    for (const Port& port : ports) {
        if (port.name.empty()) throw ArgumentError(owner + ": a port has no name");
        if (std::ranges::count(ports, port.name, &Port::name) > 1)
            throw ArgumentError(describe(owner, port) + "exists twice");
        if (port.bytes == 0 || port.items == 0)
            throw ArgumentError(describe(owner, port) + "has records of " + std::to_string(port.bytes) +
                                " bytes for " + std::to_string(port.items) +
                                " items: expected at least 1 of each");
    }
}

StagePorts checked_ports(const Stage& stage) {
    const std::string owner = "stage '" + std::string(stage.name()) + "'";
    const std::size_t granularity = stage.granularity();
    if (granularity == 0) throw ArgumentError(owner + ": granularity is 0: expected at least 1");
    StagePorts ports = {.inputs = stage.inputs(), .outputs = stage.outputs()};
    for (const std::vector<Port>* of_stage : {&ports.inputs, &ports.outputs}) {
        check_ports(owner, *of_stage);
        check_whole_records(owner, *of_stage, granularity);
    }
    return ports;
}

}  // namespace phy::detail
