#pragma once

#include <cstdint>
#include <string>

#include "phy/core/error.hpp"
#include "phy/core/export.hpp"

namespace phy {

/// Chunks and buffer sets that are not possible: too many buffer sets, or more than half of this machine's
/// memory.
class PHY_EXPORT PipelineSizeError : public ArgumentError {
public:
    /// What must be smaller. If either smaller chunks or fewer buffer sets suffice, the one that
    /// Pipeline::Config gives; chunk_and_buffer_sets if it gives both or neither.
    enum class Culprit : std::uint8_t {
        chunk,
        buffer_sets,
        chunk_and_buffer_sets,
        stage,  ///< even both do not suffice: one block of the stage and its scratch memory are too large
    };

    PipelineSizeError(const std::string& message, Culprit culprit)
        : ArgumentError(message), culprit_(culprit) {}

    [[nodiscard]] Culprit culprit() const { return culprit_; }

private:
    Culprit culprit_;
};

}  // namespace phy
