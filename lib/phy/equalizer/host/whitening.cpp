#include "phy/equalizer/host/whitening.hpp"

#include <cmath>

#include "phy/dmrs/slot_allocation.hpp"
#include "phy/equalizer/math/whitening-inl.h"

namespace phy::detail {

void whiten(std::span<const cf32> covariance, float loading, std::span<cf32> whitening) {
    using scalar::Complex;
    using scalar::Ops;
    int size = 1;
    while (static_cast<std::size_t>(size * size) < covariance.size())
        ++size;
    Complex l[max_antennas * max_antennas];
    Complex inverse[max_antennas * max_antennas];
    for (int column = 0; column < size; ++column) {
        for (int row = column; row < size; ++row) {
            const cf32 entry = covariance[static_cast<std::size_t>(row * size + column)];
            const float re = row == column ? Ops::add(entry.real(), loading) : entry.real();
            l[row * size + column] = scalar::rest_of_entry<Ops>(l, size, row, column, {re, entry.imag()});
        }
        Complex& pivot = l[column * size + column];
        pivot = {Ops::div(1.0F, std::sqrt(pivot.re)), 0.0F};
        for (int row = column + 1; row < size; ++row) {
            Complex& entry = l[row * size + column];
            entry = {Ops::mul(entry.re, pivot.re), Ops::mul(entry.im, pivot.re)};
        }
    }
    for (int column = 0; column < size; ++column)
        scalar::invert_column<Ops>(l, size, column, inverse);
    for (std::size_t i = 0; i < whitening.size(); ++i)
        whitening[i] = {inverse[i].re, inverse[i].im};
}

}  // namespace phy::detail
