#pragma once

#include <memory>

#include "phy/receiver/stage.hpp"

namespace phy::detail {

std::unique_ptr<StageRunner> make_receive_on_device(const ReceiveStage::Config& config, int device);

}  // namespace phy::detail
