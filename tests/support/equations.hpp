#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <span>

#include "phy/core/modulation.hpp"

/// The equations of TS 38.211 clause 5.1 in double precision, independent of the library.
namespace phy_test {

/// The symbol of the Qm bits of `b` at index i of its sequence.
inline std::complex<double> symbol_of(phy::Modulation modulation, std::span<const std::uint8_t> b,
                                      std::uint64_t i) {
    const auto point = [](double power, int re, int im) {
        return std::complex<double>(re / std::sqrt(power), im / std::sqrt(power));
    };
    switch (modulation) {
        case phy::Modulation::pi2_bpsk: {
            const auto bpsk = point(2, 1 - 2 * b[0], 1 - 2 * b[0]);
            return i % 2 == 1 ? std::complex<double>(-bpsk.imag(), bpsk.real()) : bpsk;
        }
        case phy::Modulation::bpsk:
            return point(2, 1 - 2 * b[0], 1 - 2 * b[0]);
        case phy::Modulation::qpsk:
            return point(2, 1 - 2 * b[0], 1 - 2 * b[1]);
        case phy::Modulation::qam16:
            return point(10, (1 - 2 * b[0]) * (2 - (1 - 2 * b[2])), (1 - 2 * b[1]) * (2 - (1 - 2 * b[3])));
        case phy::Modulation::qam64:
            return point(42, (1 - 2 * b[0]) * (4 - (1 - 2 * b[2]) * (2 - (1 - 2 * b[4]))),
                         (1 - 2 * b[1]) * (4 - (1 - 2 * b[3]) * (2 - (1 - 2 * b[5]))));
        case phy::Modulation::qam256:
            return point(170,
                         (1 - 2 * b[0]) * (8 - (1 - 2 * b[2]) * (4 - (1 - 2 * b[4]) * (2 - (1 - 2 * b[6])))),
                         (1 - 2 * b[1]) * (8 - (1 - 2 * b[3]) * (4 - (1 - 2 * b[5]) * (2 - (1 - 2 * b[7])))));
        case phy::Modulation::qam1024: {
            const int inner_i = 8 - (1 - 2 * b[4]) * (4 - (1 - 2 * b[6]) * (2 - (1 - 2 * b[8])));
            const int inner_q = 8 - (1 - 2 * b[5]) * (4 - (1 - 2 * b[7]) * (2 - (1 - 2 * b[9])));
            return point(682, (1 - 2 * b[0]) * (16 - (1 - 2 * b[2]) * inner_i),
                         (1 - 2 * b[1]) * (16 - (1 - 2 * b[3]) * inner_q));
        }
    }
    return {};
}

}  // namespace phy_test
