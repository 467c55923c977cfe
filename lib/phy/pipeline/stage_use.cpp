#include "phy/pipeline/stage_use.hpp"

#include <string>

#include "phy/core/error.hpp"

namespace phy::detail {

void StageUse::take(Stage& stage) {
    marks_.emplace_back(nullptr);
    if (!stage.in_use_.set())
        throw ArgumentError("pipeline: stage '" + std::string(stage.name()) +
                            "' works for another pipeline or run: expected one at a time");
    marks_.back().reset(&stage.in_use_);
    for (Stage& part : stage.parts())
        take(part);
}

}  // namespace phy::detail
