#pragma once

#include <memory>

#include "phy/measure/stage.hpp"

namespace phy::detail {

/// The configuration outlives the runner.
std::unique_ptr<StageRunner> make_measure_on_device(const MeasureStage::Config& config, int device);

/// Scratch memory of a device for a chunk of that many symbols.
std::size_t measure_scratch_bytes(std::size_t symbols, std::size_t row);

}  // namespace phy::detail
