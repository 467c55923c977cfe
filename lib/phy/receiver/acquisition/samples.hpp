#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "phy/core/format.hpp"
#include "phy/core/view.hpp"

namespace phy::detail {

/// What is not a number, or far beyond any, disturbs as 0 no other sample of a sum.
inline float usable(float component) {
    return std::fabs(component) < 0x1p60F ? component : 0.0F;
}

/// 0 for an element whose power is not finite, which would spoil a sum.
inline cf32 finite(cf32 element) {
    return std::isfinite(std::norm(element)) ? element : cf32();
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

/// Samples of several antennas, which lie as in an array (antennas, length).
struct AntennaSamples {
    SymbolView all;
    std::size_t antennas = 1;
    std::size_t length = 0;  ///< of an antenna

    /// read_samples() of neighbouring ones, with zeros before the first and after the last.
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
