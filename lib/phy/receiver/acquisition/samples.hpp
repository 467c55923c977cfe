#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>

#include "phy/core/format.hpp"
#include "phy/core/view.hpp"

namespace phy::detail {

/// What is not a number, or far beyond any, disturbs as 0 no other sample of a sum.
inline float usable(float component) {
    return std::fabs(component) < 0x1p60F ? component : 0.0F;
}

/// Samples as binary32, one plane for each component; integers as they are stored.
inline void read_samples(SymbolView samples, float* re, float* im) {
    with_constant(samples.format(), [&](auto format) {
        using Component = ComponentOf<decltype(format)::value>;
        for (std::size_t i = 0; i < samples.size(); ++i) {
            Component parts[2];
            std::memcpy(parts, samples.data() + i * sizeof(parts), sizeof(parts));
            re[i] = usable(static_cast<float>(parts[0]));
            im[i] = usable(static_cast<float>(parts[1]));
        }
    });
}

}  // namespace phy::detail
