#include "phy/core/cuda.hpp"
