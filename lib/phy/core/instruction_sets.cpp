#include "phy/core/instruction_sets.hpp"

#include <hwy/targets.h>

namespace phy::detail {

bool InstructionSet::supported() const {
    return built_in() && (hwy::SupportedTargets() & highway_target) != 0;
}

}  // namespace phy::detail
