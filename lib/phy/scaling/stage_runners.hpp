#pragma once

#include <memory>

#include "phy/scaling/stage.hpp"

namespace phy::detail {

std::unique_ptr<StageRunner> make_scale_on_device(const ScaleStage::Config& config, int device);

}  // namespace phy::detail
