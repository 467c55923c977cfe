#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "phy/core/export.hpp"
#include "phy/core/owned.hpp"
#include "phy/core/view.hpp"
#include "phy/machine/host.hpp"
#include "phy/measure/symbol_sums.hpp"
#include "phy/reduce/tree.hpp"

namespace phy {

/// Power, offset, imbalance, gain, error vector magnitude and noise of symbols, in one pass: sums, from which
/// measurement_of() makes numbers for people. By rows: of an OFDM symbol, a slot, a whole capture.
///
/// For the same input, every backend, number of threads, alignment, and way to cut a row into calls at
/// multiples of 2^k blocks of symbol_tree, gives the same bytes.
///
/// Not thread-safe: one meter a thread. It uses the threads of its Host, which several operators may share.
class PHY_EXPORT SymbolMeter {
public:
    using Config = SymbolMeterConfig;

    /// Throws ArgumentError if a value of the configuration is out of its range.
    SymbolMeter(const Host& host, const Config& config);
    ~SymbolMeter();
    SymbolMeter(SymbolMeter&&) noexcept;
    SymbolMeter& operator=(SymbolMeter&&) noexcept;

    /// Against the nearest points: the sums of every row of `row` symbols, the last of which may be shorter.
    /// sums.size() must be symbols.size() / row, rounded up, and row at least 1 (ArgumentError). first_symbol
    /// is the index of the first symbol in its sequence, of which pi/2-BPSK needs the parity. Allocates
    /// nothing.
    void operator()(SymbolView symbols, std::size_t row, std::span<SymbolSums> sums,
                    std::uint64_t first_symbol = 0);

    /// Against the points that were sent, of unit mean power: as many as symbols (ArgumentError). They are
    /// not checked: where one is not finite or beyond 2^40, the sums are not defined.
    void operator()(SymbolView symbols, std::span<const cf32> sent, std::size_t row,
                    std::span<SymbolSums> sums);

    /// All symbols as one row.
    [[nodiscard]] SymbolSums operator()(SymbolView symbols, std::uint64_t first_symbol = 0);

    [[nodiscard]] const Host& host() const;
    [[nodiscard]] const Config& config() const;

private:
    struct Impl;
    detail::Owned<Impl, "SymbolMeter"> impl_;
};

/// The gain of symbols of unknown amplitude, and their N0: the amplitude from the median power of blocks
/// first, then by decisions, corrected and decided again until it stays. The configuration's gain does not
/// matter. Some hundred thousand symbols do. They have to be of this constellation: resource elements without
/// data, an offset, or a phase of half of what makes clean decisions go wrong (45 degrees for QPSK, 18 for
/// 16QAM, 8 for 64QAM, 3 for 256QAM, 1 for 1024QAM) are measured as noise. Throws ArgumentError where there
/// is no finite symbol, none that is not 0, and where the amplitude is not from 2^-40 to 2^40.
PHY_EXPORT GainAndNoise estimate_gain(const Host& host, const SymbolMeterConfig& config, SymbolView symbols,
                                      std::uint64_t first_symbol = 0);

}  // namespace phy
