#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "phy/core/format.hpp"
#include "phy/ofdm/ofdm_config.hpp"

namespace phy::detail {

inline constexpr unsigned phase_bits = 12;  ///< of a level of SymbolPhases::turns

/// What kernels need to know of the phases of symbols.
struct SymbolPhases {
    const cf32* compensation = nullptr;  ///< by the symbol's number in the subframe
    const cf32* turns = nullptr;         ///< exp(j 2 pi i / 2^12), then exp(j 2 pi i / 2^24), i below 2^12
    std::uint64_t increment = 0;         ///< turns of a sample x 2^64
};

/// Phases by which a receiver multiplies, or by which a transmitter does: their conjugates.
class PhaseTables {
public:
    enum class Side { receiver, transmitter };

    PhaseTables(const OfdmConfig& config, const OfdmTiming& timing, Side side);

    /// Of a symbol, with the time of its first sample in the window of no offset.
    [[nodiscard]] const SymbolPhases& symbols() const { return symbols_; }
    [[nodiscard]] const std::vector<cf32>& compensation() const { return compensation_; }
    [[nodiscard]] const std::vector<cf32>& turns() const { return turns_; }

    /// True if samples are turned.
    [[nodiscard]] bool shifts() const { return symbols_.increment != 0; }

    /// What sample `time` of a symbol is multiplied by: of `count` from the first on.
    void append_rotation(std::int64_t first, std::size_t count, std::vector<cf32>& rotation) const;

    PhaseTables(const PhaseTables&) = delete;  // symbols() points into the tables
    PhaseTables& operator=(const PhaseTables&) = delete;

private:
    std::vector<cf32> compensation_;
    std::vector<cf32> turns_;
    SymbolPhases symbols_;
};

/// What a receiver multiplies samples by, in the order in which they are transformed; empty if it does not.
std::vector<cf32> receiver_rotation(const OfdmConfig& config, const OfdmTiming& timing,
                                    const PhaseTables& phases);

}  // namespace phy::detail
