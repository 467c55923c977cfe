#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/format.hpp"
#include "phy/core/modulation.hpp"
#include "phy/machine/host.hpp"

namespace phy {

/// A fault that lies in symbols, whatever their noise.
enum class SymbolFault : std::uint8_t {
    none,
    rotated,    ///< by one phase
    rotating,   ///< by a phase that varies
    offset,     ///< a constant is added
    imbalance,  ///< I and Q differ in gain, or their axes are not at a right angle
};

struct PHY_EXPORT SymbolFaults {
    SymbolFault fault = SymbolFault::none;  ///< the one whose removal helps most
    /// With `rotated`: degrees, from -45 to 45, or to 90 for BPSK and pi/2-BPSK. A multiple of 90 degrees
    /// (180) more looks the same without the transmitted bits.
    double phase_deg = 0.0;
    double offset_i = 0.0;      ///< with `offset`: in units of the amplitude
    double offset_q = 0.0;      ///< the same
    double iq_gain_db = 0.0;    ///< with `imbalance`: power of Q over that of I
    double iq_phase_deg = 0.0;  ///< with `imbalance`: as in SymbolMeasurement
};

/// Finds the fault whose removal brings symbols closer to the points of their modulation: the squared EVM by
/// decisions falls to 0.7 of what it was, or less. Noise does not hide a fault that shows, and no noise looks
/// like one. Below an EVM of 1 %, and for fewer than 256 symbols, there is none.
///
/// symbols: of mean power 1 + N0, in blocks of `block` neighbours, an even number from 2 on; the last block
/// may be shorter. Those that are not finite do not count. Throws ArgumentError for another block.
PHY_EXPORT SymbolFaults find_symbol_fault(const Host& host, Modulation modulation,
                                          std::span<const cf32> symbols, std::size_t block);

}  // namespace phy
