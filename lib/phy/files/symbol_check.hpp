#pragma once

#include <cstdint>
#include <limits>

#include "phy/core/export.hpp"

namespace phy {

/// What of a capture does not fit the rest. None of these is an error: the symbols are demapped all the same.
enum class SymbolDoubt : std::uint8_t {
    none,

    /// The symbols are spread like noise, as samples of several subcarriers are, and show no constellation.
    no_constellation,

    /// Their power is not that of a constellation of mean power 1 with noise of N0.
    power,

    /// They are much farther from the points, or much nearer to them, than N0 says.
    noise_variance,
};

/// What some symbols of a capture are like, beside what is said about them. They are blocks of 1,024, which
/// begin at multiples of 1,024 and lie at equal distances: a 256th of the capture, at least 8 blocks and at
/// most 256, or all of a capture that has no more. Where N0 is by symbol, those of N0 above 1 do not count.
/// The numbers are the same on every backend, for every chunk size and number of threads; they are NaN where
/// no symbol counts.
///
/// There is a doubt where
/// - the fourth moment is that of a circular Gaussian, the median of |y|^4 over (|y|^2)^2 of blocks being 2
///   within its chance, and is not what N0 makes of it, and decisions are as far off as those of noise;
/// - else the mean power is more than 1 dB below 1 / (1 + N0), which biased symbols of an MMSE equalizer
///   have, or more than 1 dB above 1 + N0, which correct ones have;
/// - else evm is more than twice promised_evm, or less than half of it. Both are by decisions, and so both
///   saturate at low SNR: there nothing is doubted. Half and double are 6 dB of N0: what receivers and
///   channels add to the noise is less. An N0 below 1e-4, and the noise of rounding to integers, are not
///   held against symbols; nor that those without noise (evm below 0.001) have an N0.
///
/// Five standard deviations of chance are allowed for, and fewer than 256 symbols say nothing.
struct PHY_EXPORT SymbolCheck {
    static constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

    std::uint64_t symbols = 0;             ///< that count
    double mean_power = unknown;           ///< after the division by full scale and gain
    double evm = unknown;                  ///< rms against the nearest points, over theirs; nothing is fitted
    double promised_evm = unknown;         ///< what is expected of it with Gaussian noise of N0
    double mean_noise_variance = unknown;  ///< of the symbols that count
    SymbolDoubt doubt = SymbolDoubt::none;

    /// By which symbols would have to be divided once more, were N0 that of the divided ones.
    [[nodiscard]] double amplitude() const;
};

}  // namespace phy
