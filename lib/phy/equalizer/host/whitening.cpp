#include "phy/equalizer/host/whitening.hpp"

#include <cmath>
#include <cstring>
#include <span>

#include "phy/equalizer/math/whitening-inl.h"

namespace phy::detail {
namespace {

/// Makes the matrix that whitens noise of this covariance, (size, size), and errors of the estimates.
void whiten(const cf32* covariance, int size, float errors, std::span<cf32> whitening) {
    using scalar::Ops;
    using Complex = scalar::ComplexOf<Ops>;
    Complex l[max_antennas * max_antennas];
    Complex inverse[max_antennas * max_antennas];
    float trace = 0.0F;
    for (int row = 0; row < size; ++row)
        trace = Ops::add(trace, covariance[row * size + row].real());
    const scalar::NoiseAndErrors<Ops> with_errors(trace, size, errors);
    for (int column = 0; column < size; ++column) {
        for (int row = column; row < size; ++row) {
            const cf32 entry = covariance[row * size + column];
            l[row * size + column] = scalar::rest_of_entry<Ops>(
                l, size, row, column, with_errors({entry.real(), entry.imag()}, row == column));
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

}  // namespace

SubbandWhitening::SubbandWhitening(int antennas, std::size_t most_subbands)
    : antennas_(antennas), matrices_(most_subbands * size()), matrix_of_(most_subbands) {}

void SubbandWhitening::make(const Source& source, const cf32* covariance, float errors) {
    if (source_ == source) return;
    source_ = source;
    for (std::size_t i = 0; i < source.count; ++i) {
        const cf32* const own = covariance + i * size();
        const bool is_equal = i > 0 && std::memcmp(own, own - size(), size() * sizeof(cf32)) == 0;
        matrix_of_[i] = is_equal ? matrix_of_[i - 1] : i;
        if (!is_equal) whiten(own, antennas_, errors, std::span(matrices_).subspan(i * size(), size()));
    }
}

}  // namespace phy::detail
