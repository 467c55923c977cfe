#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "phy/core/export.hpp"

namespace phy {

/// What the complex values of a capture are.
enum class CaptureKind : std::uint8_t {
    symbols,  ///< equalised constellation symbols, of any shape
    grid,     ///< received resource elements after the FFT: (antennas, OFDM symbols, subcarriers)
    samples,  ///< baseband samples in time: (antennas, samples)
};

inline constexpr std::array all_capture_kinds = {CaptureKind::symbols, CaptureKind::grid,
                                                 CaptureKind::samples};

/// "symbols", "grid", "samples". The parser throws ArgumentError that lists the names.
PHY_EXPORT std::string_view to_string(CaptureKind kind);
PHY_EXPORT CaptureKind parse_capture_kind(std::string_view name);

/// Where a capture of this kind lies in its file unless someone says otherwise: "/iq", "/grid", "/samples".
PHY_EXPORT std::string_view default_dataset(CaptureKind kind);

}  // namespace phy
