#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "phy/core/format.hpp"
#include "phy/core/view.hpp"

namespace phy::detail {

/// Replaces NaN and huge values by 0, so that they do not spoil sums.
inline float usable(float component) {
    return std::fabs(component) < 0x1p60F ? component : 0.0F;
}

/// Replaces an element whose power is not finite by 0, so that it does not spoil sums.
inline cf32 finite(cf32 element) {
    return std::isfinite(std::norm(element)) ? element : cf32();
}

/// Converts samples to binary32, one plane per component; integers are not scaled.
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

/// Samples of several antennas, (antennas, length).
struct AntennaSamples {
    SymbolView all;
    std::size_t antennas = 1;
    std::size_t length = 0;  ///< per antenna

    /// read_samples() of neighbours, with zeros before the first and after the last sample.
    void read(std::size_t antenna, std::int64_t first, std::size_t count, float* re, float* im) const {
        const auto end = static_cast<std::int64_t>(length);
        const std::int64_t from = std::clamp<std::int64_t>(first, 0, end);
        const std::int64_t to = std::clamp<std::int64_t>(first + static_cast<std::int64_t>(count), from, end);
        const auto before = std::min(static_cast<std::size_t>(from - std::min(first, from)), count);
        const auto there = static_cast<std::size_t>(to - from);
        for (float* const plane : {re, im}) {
            std::fill_n(plane, before, 0.0F);
            std::fill_n(plane + before + there, count - before - there, 0.0F);
        }
        const std::size_t at = antenna * length + static_cast<std::size_t>(from);
        read_samples(all.subspan(at, there), re + before, im + before);
    }
};

}  // namespace phy::detail
