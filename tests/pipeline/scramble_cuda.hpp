#pragma once

#include "pipeline/scramble.hpp"

struct CUstream_st;

namespace phy_test {

/// run_scramble() for arrays in device memory, on a stream of the current device.
void run_scramble_on_device(const Scramble& scramble, CUstream_st* stream);

}  // namespace phy_test
