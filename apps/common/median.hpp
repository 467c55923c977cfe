#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace phy::apps {

/// The middle value, or the larger of the two middle values. values must not be empty.
inline double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Median and quartiles of repeated times.
struct Quartiles {
    double lower = 0.0;
    double median = 0.0;
    double upper = 0.0;

    /// The width of the middle half over the median, in per cent.
    [[nodiscard]] double spread_percent() const { return 100.0 * (upper - lower) / median; }
};

/// The meaning of the column "spread" of benchmarks.
inline constexpr const char* spread_text =
    "spread: the width of the middle half of the times, as a share of the median\n";

/// The quartiles leave out as many values below as above. values must not be empty.
inline Quartiles quartiles(std::vector<double> values) {
    std::ranges::sort(values);
    const std::size_t quarter = values.size() / 4;
    return {values[quarter], values[values.size() / 2], values[values.size() - 1 - quarter]};
}

}  // namespace phy::apps
