#pragma once

#include <cstddef>

namespace phy_test {

/// How often the calling thread has called operator new. The definition replaces operator new in its program.
std::size_t allocations_of_this_thread();

}  // namespace phy_test
