#pragma once

/// Everything of phy::phy that needs no CUDA: include this, or the one room that you use. Files have headers
/// of their own: phy/capture/capture.hpp (phy::capture) and phy/receiver/demodulate.hpp (phy::receiver).

#include "phy/core/backend.hpp"
#include "phy/core/constellation.hpp"
#include "phy/core/demapper_config.hpp"
#include "phy/core/error.hpp"
#include "phy/core/format.hpp"
#include "phy/core/half.hpp"
#include "phy/core/host.hpp"
#include "phy/core/modulation.hpp"
#include "phy/core/noise_variance.hpp"
#include "phy/core/version.hpp"
#include "phy/core/view.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/demapper/stage.hpp"
#include "phy/mapper/mapper.hpp"
#include "phy/measure/stage.hpp"
#include "phy/measure/symbol_meter.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/measure/tree.hpp"
#include "phy/pipeline/chain.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/pipeline/trace.hpp"
