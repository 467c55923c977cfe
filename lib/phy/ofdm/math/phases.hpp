#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/ofdm/ofdm_config.hpp"

namespace phy::detail {

inline constexpr unsigned phase_bits = 12;  ///< per level of SymbolPhases::turns

/// Phases of symbols, as kernels need them.
struct SymbolPhases {
    const cf32* compensation = nullptr;  ///< indexed by the symbol's number in the subframe
    const cf32* turns = nullptr;         ///< exp(j 2 pi i / 2^12), then exp(j 2 pi i / 2^24), i below 2^12
    std::uint64_t increment = 0;         ///< turns per sample x 2^64
};

/// Phases by which a receiver multiplies; for a transmitter their conjugates.
class PhaseTables {
public:
    enum class Side { receiver, transmitter };

    PhaseTables(const OfdmConfig& config, const OfdmTiming& timing, Side side);

    /// The time of a symbol is that of its first sample in a window without offset.
    [[nodiscard]] const SymbolPhases& symbols() const { return symbols_; }
    [[nodiscard]] const std::vector<cf32>& compensation() const { return compensation_; }
    [[nodiscard]] const std::vector<cf32>& turns() const { return turns_; }

    /// True if samples are rotated.
    [[nodiscard]] bool shifts() const { return symbols_.increment != 0; }

    /// Appends the factors of `count` samples of a symbol from time `first` on.
    void append_rotation(std::int64_t first, std::size_t count, std::vector<cf32>& rotation) const;

    PhaseTables(const PhaseTables&) = delete;  // symbols() points into the tables
    PhaseTables& operator=(const PhaseTables&) = delete;

private:
    std::vector<cf32> compensation_;
    std::vector<cf32> turns_;
    SymbolPhases symbols_;
};

/// Factors of a receiver's samples, in the order of the transform; empty if there is no rotation.
std::vector<cf32> receiver_rotation(std::size_t window_offset, const OfdmTiming& timing,
                                    const PhaseTables& phases);

}  // namespace phy::detail
