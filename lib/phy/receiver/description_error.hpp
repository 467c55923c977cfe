#pragma once

#include <string>

#include "phy/core/error.hpp"
#include "phy/core/export.hpp"

namespace phy {

/// A capture lacks its modulation, noise variance, transmitted bits or link. Also thrown if its noise
/// variance is invalid or cannot be measured. CaptureOptions can give modulation and noise variance instead.
class PHY_EXPORT DescriptionError : public FileError {
public:
    enum class Lacks { modulation, noise_variance, modulation_and_noise_variance, bits, link };

    DescriptionError(const std::string& message, Lacks lacks) : FileError(message), lacks_(lacks) {}

    [[nodiscard]] Lacks lacks() const { return lacks_; }

private:
    Lacks lacks_;
};

}  // namespace phy
