#pragma once

#include <cstddef>

namespace phy_test {

/// The number of calls of operator new by this thread. The definition replaces operator new in the program.
std::size_t allocations_of_this_thread();

}  // namespace phy_test
