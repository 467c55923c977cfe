#pragma once

/// Everything of phy::phy, where it was built with CUDA.

#include "phy/channel/average_matvec_cuda.hpp"
#include "phy/cuda/buffer.hpp"
#include "phy/cuda/device.hpp"
#include "phy/cuda/memory_resource.hpp"
#include "phy/cuda/stream.hpp"
#include "phy/cuda/view.hpp"
#include "phy/demapper/demapper_cuda.hpp"
#include "phy/demapper/slot_demapper_cuda.hpp"
#include "phy/mapper/mapper_cuda.hpp"
#include "phy/measure/reduce_rows_cuda.hpp"
#include "phy/measure/soft_bit_meter_cuda.hpp"
#include "phy/measure/symbol_meter_cuda.hpp"
#include "phy/ofdm/demodulator_cuda.hpp"
#include "phy/ofdm/transform_precoder_cuda.hpp"
#include "phy/phy.hpp"
#include "phy/scaling/scaler_cuda.hpp"
