#pragma once

#include "phy/core/error.hpp"
#include "phy/core/export.hpp"

namespace phy {

/// A capture does not say which modulation or which noise variance it has, or gives a variance that cannot
/// be. CaptureOptions may say it instead.
class PHY_EXPORT DescriptionError : public FileError {
public:
    using FileError::FileError;
};

}  // namespace phy
