#pragma once

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <numbers>
#include <vector>

namespace phy_test {

using Points = std::vector<std::complex<double>>;

/// The point on the unit circle at this number of turns.
inline std::complex<double> turns(double turns) {
    return std::polar(1.0, 2.0 * std::numbers::pi * (turns - std::floor(turns)));
}

/// Sums of x(i) exp(sign j 2 pi i k / n) in binary64, for sizes n with factors 2, 3 and 5. Independent of the
/// library.
class ReferenceDft {
public:
    ReferenceDft(std::size_t size, double sign) : roots_(size) {
        for (std::size_t i = 0; i < size; ++i)
            roots_[i] = turns(sign * static_cast<double>(i) / static_cast<double>(size));
    }

    void operator()(const Points& x, Points& y) const {
        y.resize(roots_.size());
        transform(x.data(), 1, y.data(), roots_.size());
    }

private:
    void transform(const std::complex<double>* x, std::size_t stride, std::complex<double>* y,
                   std::size_t n) const {
        if (n == 1) {
            y[0] = x[0];
            return;
        }
        const std::size_t parts = n % 2 == 0 ? 2 : n % 3 == 0 ? 3 : 5;
        const std::size_t m = n / parts;
        for (std::size_t part = 0; part < parts; ++part)
            transform(x + part * stride, stride * parts, y + part * m, m);
        std::array<std::complex<double>, 5> turned;
        for (std::size_t k = 0; k < m; ++k) {
            for (std::size_t part = 0; part < parts; ++part)
                turned[part] = y[part * m + k] * roots_[part * k * (roots_.size() / n)];
            for (std::size_t q = 0; q < parts; ++q) {
                std::complex<double> sum = turned[0];
                for (std::size_t part = 1; part < parts; ++part)
                    sum += turned[part] * roots_[part * q % parts * (roots_.size() / parts)];
                y[q * m + k] = sum;
            }
        }
    }

    std::vector<std::complex<double>> roots_;
};

inline Points reference_dft(const Points& x, double sign = -1.0) {
    Points y;
    ReferenceDft(x.size(), sign)(x, y);
    return y;
}

}  // namespace phy_test
