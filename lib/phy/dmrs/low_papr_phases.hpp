#pragma once

#include <cstddef>

namespace phy::detail {

/// phi(n) of tables 5.2.2.2-1 to -4: -3, -1, 1 or 3. length is 6, 12, 18 or 24.
int low_papr_phase(std::size_t length, int u, std::size_t n);

}  // namespace phy::detail
