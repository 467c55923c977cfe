#include "phy/simd/targets.hpp"

#include <hwy/targets.h>

#include "phy/core/machine.hpp"

namespace phy::detail {

bool InstructionSet::supported() const {
    // Once: under a hypervisor the instruction for this takes about ten microseconds.
    static const std::int64_t targets = hwy::SupportedTargets();
    return built_in() && (targets & highway_target) != 0;
}

std::vector<InstructionSetFacts> list_instruction_sets() {
    std::vector<InstructionSetFacts> list;
    for (const InstructionSet& set : instruction_sets)
        list.push_back({set.name, set.description, set.built_in(), set.supported()});
    return list;
}

}  // namespace phy::detail
