#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "phy/core/error.hpp"
#include "phy/core/format.hpp"
#include "phy/ofdm/ofdm_config.hpp"

namespace phy::detail {

/// Throws ArgumentError unless a number is from first to last.
inline void check_range(const char* what, int number, int first, int last) {
    if (number >= first && number <= last) return;
    throw ArgumentError(std::string(what) + " " + std::to_string(number) + ": expected " +
                        std::to_string(first) + " to " + std::to_string(last));
}

/// Throws ArgumentError if any value is out of its range, also those that OfdmTiming does not need.
OfdmTiming checked_timing(const OfdmConfig& config);

/// Where the samples of a call lie.
struct OfdmSizes {
    std::size_t stride = 0;       ///< from an antenna's first to the next one's
    std::size_t slot_stride = 0;  ///< as OfdmSlots has it

    /// The first sample of an antenna in a slot, the call's being the first of all.
    [[nodiscard]] std::size_t first_sample(const OfdmTiming& timing, std::uint64_t first_slot,
                                           std::size_t slot, std::size_t antenna) const {
        const std::size_t start = slot_stride == 0
                                      ? timing.slot_start(first_slot + slot) - timing.slot_start(first_slot)
                                      : slot * slot_stride;
        return antenna * stride + start;
    }
};

/// Throws ArgumentError if arrays of so many elements do not hold the slots.
OfdmSizes checked_sizes(const OfdmConfig& config, const OfdmTiming& timing, const OfdmSlots& slots,
                        std::size_t samples, std::size_t grid);

/// The value of an integer 1 in samples of a format.
float unit_of(const OfdmConfig& config, SampleFormat format);

}  // namespace phy::detail
