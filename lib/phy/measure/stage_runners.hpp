#pragma once

#include <memory>

#include "phy/measure/soft_bit_stage.hpp"
#include "phy/measure/stage.hpp"

namespace phy::detail {

/// The configuration must outlive the runner.
std::unique_ptr<StageRunner> make_measure_on_device(const MeasureStage::Config& config, int device);

std::unique_ptr<StageRunner> make_soft_bits_on_device(const SoftBitMeasureStage::Config& config, int device);

/// Device scratch memory for a chunk of so many symbols or soft bits.
std::size_t measure_scratch_bytes(std::size_t symbols, std::size_t row);
std::size_t soft_bit_scratch_bytes(std::size_t soft_bits, std::size_t row);

}  // namespace phy::detail
