#pragma once

#include <memory>

#include "phy/compression/stage.hpp"

namespace phy::detail {

std::unique_ptr<StageRunner> make_decompress_on_device(const DecompressStage::Config& config, int device);

}  // namespace phy::detail
