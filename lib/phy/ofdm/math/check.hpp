#pragma once

#include <cstddef>
#include <cstdint>

#include "phy/core/format.hpp"
#include "phy/ofdm/ofdm_config.hpp"

namespace phy::detail {

constexpr std::size_t max_symbols = 14;  ///< of a slot

/// Throws ArgumentError if any value is out of its range, including those that OfdmTiming ignores.
OfdmTiming checked_timing(const OfdmConfig& config);

/// The window offset in samples. Throws ArgumentError if it is out of its range.
std::size_t checked_window_offset(const OfdmDemodulatorConfig& config, const OfdmTiming& timing);

/// The symbols of a slot that a call works on.
struct ChosenSymbols {
    std::uint8_t numbers[max_symbols] = {};
    std::uint32_t count = 0;
};

/// A symbol of one antenna.
struct OfdmRow {
    std::size_t slot = 0;  ///< of the call
    std::size_t antenna = 0;
    std::size_t symbol = 0;  ///< of the slot
};

/// The layout of a call's samples and the symbols that it works on.
struct OfdmSizes {
    std::size_t stride = 0;       ///< samples from one antenna's first to the next one's
    std::size_t slot_stride = 0;  ///< 0: none was given
    ChosenSymbols chosen = {};
    std::uint32_t antennas = 0;
    std::size_t rows = 0;  ///< symbols of all slots and antennas

    template <typename Index>
    [[nodiscard]] constexpr OfdmRow row(Index index) const {
        return {.slot = index / chosen.count / antennas,
                .antenna = index / chosen.count % antennas,
                .symbol = chosen.numbers[index % chosen.count]};
    }

    /// The first element of a symbol.
    [[nodiscard]] constexpr std::size_t first_element(const OfdmTiming& timing, const OfdmRow& row) const {
        return ((row.slot * antennas + row.antenna) * timing.symbols() + row.symbol) * timing.subcarriers();
    }

    /// The first sample of an antenna in a slot, counted from the first of the call.
    [[nodiscard]] constexpr std::size_t first_sample(const OfdmTiming& timing, std::uint64_t first_slot,
                                                     const OfdmRow& row) const {
        const std::size_t start =
            slot_stride == 0 ? timing.slot_start(first_slot + row.slot) - timing.slot_start(first_slot)
                             : row.slot * slot_stride;
        return row.antenna * stride + start;
    }
};

/// Throws ArgumentError if arrays with these numbers of elements do not hold the slots.
OfdmSizes checked_sizes(const OfdmConfig& config, const OfdmTiming& timing, const OfdmSlots& slots,
                        std::size_t samples, std::size_t grid);

/// The value of the integer 1 in samples of a format.
float unit_of(const OfdmDemodulatorConfig& config, SampleFormat format);

}  // namespace phy::detail
