#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace phy {

/// The modulations of 3GPP TS 38.211 clause 5.1 (1024QAM: since release 17).
enum class Modulation { pi2_bpsk, bpsk, qpsk, qam16, qam64, qam256, qam1024 };

inline constexpr std::array all_modulations = {Modulation::pi2_bpsk, Modulation::bpsk,  Modulation::qpsk,
                                               Modulation::qam16,    Modulation::qam64, Modulation::qam256,
                                               Modulation::qam1024};

/// Qm, the number of bits that one symbol carries: 1, 1, 2, 4, 6, 8, 10.
constexpr std::size_t bits_per_symbol(Modulation modulation) {
    constexpr std::array<std::size_t, all_modulations.size()> qm = {1, 1, 2, 4, 6, 8, 10};
    return qm[static_cast<std::size_t>(modulation)];
}

/// The name used in files and on command lines: "pi2-bpsk", "bpsk", "qpsk", "16qam", "64qam", "256qam",
/// "1024qam".
constexpr std::string_view to_string(Modulation modulation) {
    constexpr std::array<std::string_view, all_modulations.size()> names = {
        "pi2-bpsk", "bpsk", "qpsk", "16qam", "64qam", "256qam", "1024qam"};
    return names[static_cast<std::size_t>(modulation)];
}

/// Inverse of to_string; upper case is accepted. Throws ArgumentError that lists the names.
Modulation parse_modulation(std::string_view name);

}  // namespace phy
