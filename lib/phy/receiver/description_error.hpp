#pragma once

#include <string>

#include "phy/core/error.hpp"
#include "phy/core/export.hpp"

namespace phy {

/// A capture does not say which modulation, which noise variance, which transmitted bits or which link it
/// has, or gives a variance that cannot be, or has none that can be measured. CaptureOptions may say the
/// first two instead.
class PHY_EXPORT DescriptionError : public FileError {
public:
    enum class Lacks { modulation, noise_variance, modulation_and_noise_variance, bits, link };

    DescriptionError(const std::string& message, Lacks lacks) : FileError(message), lacks_(lacks) {}

    [[nodiscard]] Lacks lacks() const { return lacks_; }

private:
    Lacks lacks_;
};

}  // namespace phy
