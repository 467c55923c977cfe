#pragma once

/// Everything that needs no CUDA: include this, or the one stage that you use.

#include "phy/capture/capture.hpp"
#include "phy/capture/streams.hpp"
#include "phy/core/backend.hpp"
#include "phy/core/error.hpp"
#include "phy/core/format.hpp"
#include "phy/core/half.hpp"
#include "phy/core/modulation.hpp"
#include "phy/core/version.hpp"
#include "phy/core/view.hpp"
#include "phy/demapper/batch.hpp"
#include "phy/demapper/demapper.hpp"
#include "phy/mapper/constellation.hpp"
#include "phy/mapper/mapper.hpp"
#include "phy/pipeline/memory.hpp"
#include "phy/pipeline/pipeline.hpp"
#include "phy/pipeline/soft_demap_stage.hpp"
#include "phy/pipeline/trace.hpp"
