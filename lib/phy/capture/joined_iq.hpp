#pragma once

#include <memory>

#include "phy/capture/input.hpp"

namespace phy::detail {

/// A dataset of I and one of Q as one of pairs. Throws FileError unless both are numbers of one type and
/// shape.
std::unique_ptr<InputDataset> join_iq(std::unique_ptr<InputDataset> i, std::unique_ptr<InputDataset> q);

}  // namespace phy::detail
