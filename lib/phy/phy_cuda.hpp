#pragma once

/// Everything, for a phy that was built with CUDA.

#include "phy/core/cuda.hpp"
#include "phy/demapper/demapper_cuda.hpp"
#include "phy/demapper/slot_demapper_cuda.hpp"
#include "phy/mapper/mapper_cuda.hpp"
#include "phy/phy.hpp"
