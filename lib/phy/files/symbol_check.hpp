#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "phy/core/export.hpp"
#include "phy/core/modulation.hpp"
#include "phy/measure/symbol_faults.hpp"

namespace phy {

/// A mismatch between symbols and their description. It is no error: the symbols are demapped all the same.
enum class SymbolMismatch : std::uint8_t {
    none,

    /// The symbols are distributed like noise, as time samples of several subcarriers are, and show no
    /// constellation.
    no_constellation,

    /// The symbols have a fault: see SymbolCheck::faults.
    fault,

    /// The points of another modulation fit clearly better: see SymbolCheck::likelier.
    modulation,

    /// The power is not that of a constellation of unit mean power with noise of variance N0.
    power,

    /// The symbols are much farther from the points, or much nearer to them, than N0 implies.
    noise_variance,
};

/// Compares some symbols of a capture with their description. It uses blocks of 1,024 symbols at multiples of
/// 1,024 and at equal distances: 1/256 of the capture, but at least 8 and at most 256 blocks, or all of a
/// smaller capture. With an N0 per symbol, symbols with N0 above 1 do not count. The numbers are the same for
/// every backend, chunk size and number of threads. They are NaN if no symbol counts.
///
/// There is a mismatch if
/// - the symbols look like a circular Gaussian: the median over blocks of mean |y|^4 / (mean |y|^2)^2 is 2
///   within chance, N0 does not explain it, and decisions are as far off as those of noise;
/// - else another modulation of at most as many bits fits 0.2 bits per symbol better and shows a
///   constellation by at least a bit: see fit_symbols(). Gain and N0 are measured for each. This is only
///   tried if decisions are nearly as far off as those of noise, and BPSK for QPSK;
/// - else find_symbol_fault() finds a fault, at the amplitude that amplitude() implies;
/// - else another modulation of more bits fits better in the same way;
/// - else the mean power is more than 1 dB below 1 / (1 + N0), the power of biased symbols of an MMSE
///   equaliser, or more than 1 dB above 1 + N0, the power of correct symbols;
/// - else evm is more than twice expected_evm, or less than half of it. Both are by decisions, so both
///   saturate at low SNR, where this test never fails. A factor of 2 is 6 dB of N0: receivers and channels
///   add less to the noise. The test allows for an N0 below 1e-4, for the noise of rounding to integers, and
///   for symbols without noise (evm below 0.001) that come with an N0.
///
/// All tests allow for five standard deviations of chance. Fewer than 256 symbols never mismatch.
struct PHY_EXPORT SymbolCheck {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    std::uint64_t symbols = 0;    ///< number of symbols that count
    double mean_power = unknown;  ///< after the division by full scale and gain
    double evm = unknown;         ///< rms distance from the nearest points over their rms; nothing is fitted
    double expected_evm = unknown;         ///< the EVM expected with Gaussian noise of variance N0
    double mean_noise_variance = unknown;  ///< of the symbols that count
    SymbolMismatch mismatch = SymbolMismatch::none;
    SymbolFaults faults = {};                 ///< with SymbolMismatch::fault
    std::optional<Modulation> likelier = {};  ///< with SymbolMismatch::modulation

    /// The further divisor of symbols that gives the expected power, if N0 is that of symbols after the
    /// division.
    [[nodiscard]] double amplitude() const;
};

/// A fault or another modulation as a warning, such as "the constellation is rotated by 12.3 degrees: ...";
/// "" for other mismatches. modulation: that of the check.
[[nodiscard]] PHY_EXPORT std::string warning_of(const SymbolCheck& check, Modulation modulation);

}  // namespace phy
