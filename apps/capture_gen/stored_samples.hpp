#pragma once

#include <optional>
#include <span>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/core/view.hpp"

namespace phy::apps {

/// True if samples of the format are integers: value times full scale.
bool is_integer(SampleFormat format);

/// The largest magnitude of an integer.
double largest_integer(SampleFormat format);

/// Converts samples to a stored format. Integers round half to even and saturate.
class StoredSamples {
public:
    /// full_scale: the integer that stands for 1.0; none for floating point.
    StoredSamples(SampleFormat format, std::optional<double> full_scale);

    /// The result is valid until the next call, and as long as the samples are.
    SymbolView operator()(std::span<const cf32> samples);

private:
    SampleFormat format_;
    double full_scale_;
    std::vector<cf16> halves_;
    std::vector<ci16> shorts_;
    std::vector<ci8> bytes_;
};

}  // namespace phy::apps
