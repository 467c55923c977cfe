#pragma once

#include <cstdint>
#include <string>

#include "phy/core/error.hpp"
#include "phy/core/export.hpp"

namespace phy {

/// Chunks in flight that cannot be: too many lanes, or more than half of this machine's memory.
class PHY_EXPORT PipelineSizeError : public ArgumentError {
public:
    /// What would have to be smaller. Where smaller chunks would do, and fewer lanes too, it is what
    /// Pipeline::Config gives, and both if that gives both or neither.
    enum class Culprit : std::uint8_t {
        chunk,
        lanes,
        chunk_and_lanes,
        stage,  ///< nor would both do: a block of the stage and its scratch memory are too large
    };

    PipelineSizeError(const std::string& message, Culprit culprit)
        : ArgumentError(message), culprit_(culprit) {}

    [[nodiscard]] Culprit culprit() const { return culprit_; }

private:
    Culprit culprit_;
};

}  // namespace phy
