#pragma once

#include <memory>

#include "phy/scrambling/stage.hpp"

namespace phy::detail {

std::unique_ptr<StageRunner> make_descramble_on_device(const DescrambleStage::Config& config, int device);

}  // namespace phy::detail
