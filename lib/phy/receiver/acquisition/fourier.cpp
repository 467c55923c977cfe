#include "phy/receiver/acquisition/fourier.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "phy/numerics/elementary.hpp"

namespace phy::detail {
namespace {

struct Planes {
    float* re;
    float* im;
};

/// Factors of one group, for outputs 1, 2 and 3.
struct Factors {
    float re[3];
    float im[3];
};

/// Butterflies of one group. Inputs are a quarter of all points apart, outputs are stride apart.
void do_group(const float* re, const float* im, std::size_t quarter, std::size_t stride, const Factors& w,
              Planes out) {
    for (std::size_t q = 0; q < stride; ++q) {
        const float sum_re = re[q] + re[q + 2 * quarter];
        const float sum_im = im[q] + im[q + 2 * quarter];
        const float gap_re = re[q] - re[q + 2 * quarter];
        const float gap_im = im[q] - im[q + 2 * quarter];
        const float odd_re = re[q + quarter] + re[q + 3 * quarter];
        const float odd_im = im[q + quarter] + im[q + 3 * quarter];
        const float turned_re = im[q + quarter] - im[q + 3 * quarter];
        const float turned_im = re[q + 3 * quarter] - re[q + quarter];
        const float y_re[3] = {gap_re + turned_re, sum_re - odd_re, gap_re - turned_re};
        const float y_im[3] = {gap_im + turned_im, sum_im - odd_im, gap_im - turned_im};
        out.re[q] = sum_re + odd_re;
        out.im[q] = sum_im + odd_im;
        for (std::size_t k = 0; k < 3; ++k) {
            out.re[q + (k + 1) * stride] = y_re[k] * w.re[k] - y_im[k] * w.im[k];
            out.im[q + (k + 1) * stride] = y_re[k] * w.im[k] + y_im[k] * w.re[k];
        }
    }
}

}  // namespace

FourierTransform::FourierTransform(std::size_t points) : points_(points), scratch_(2 * points) {
    for (std::size_t n = points; n >= 4; n /= 4) {
        for (std::size_t p = 0; p < n / 4; ++p) {
            for (std::size_t k = 1; k < 4; ++k) {
                const double turns = static_cast<double>(p * k) / static_cast<double>(n);
                factors_.push_back(static_cast<float>(elementary::cos(2.0 * std::numbers::pi * turns)));
                factors_.push_back(static_cast<float>(-elementary::sin(2.0 * std::numbers::pi * turns)));
            }
        }
    }
}

void FourierTransform::operator()(float* re, float* im) {
    Planes in = {re, im};
    Planes out = {scratch_.data(), scratch_.data() + points_};
    const std::size_t quarter = points_ / 4;
    const float* factor = factors_.data();
    std::size_t stride = 1;
    for (std::size_t n = points_; n >= 4; n /= 4) {
        for (std::size_t p = 0; p < n / 4; ++p, factor += 6) {
            const Factors w = {{factor[0], factor[2], factor[4]}, {factor[1], factor[3], factor[5]}};
            do_group(in.re + p * stride, in.im + p * stride, quarter, stride, w,
                     {out.re + 4 * p * stride, out.im + 4 * p * stride});
        }
        stride *= 4;
        std::swap(in, out);
    }
    if (stride < points_) {
        for (std::size_t q = 0; q < stride; ++q) {
            out.re[q] = in.re[q] + in.re[q + stride];
            out.im[q] = in.im[q] + in.im[q + stride];
            out.re[q + stride] = in.re[q] - in.re[q + stride];
            out.im[q + stride] = in.im[q] - in.im[q + stride];
        }
        std::swap(in, out);
    }
    if (in.re == re) return;
    std::copy_n(in.re, points_, re);
    std::copy_n(in.im, points_, im);
}

}  // namespace phy::detail
