#pragma once

#include "phy/receiver/receiver.hpp"

namespace phy::detail {

/// The sums over the symbols of a slot that were not erased; peaks count those too.
inline SymbolSums without_erased(const ReceivedSlot& received) {
    // An erased symbol is 0, which is as far from the points around it as they are from 0: its |w - d|^2 and
    // |d|^2 are both 1/2 in units of the distance between levels.
    const double erased = 0.5 * static_cast<double>(received.erasures);
    SymbolSums sums = received.symbols;
    sums.error -= erased;
    sums.decided -= erased;
    sums.symbols -= received.erasures;
    return sums;
}

}  // namespace phy::detail
