#pragma once

#include <cstddef>

namespace phy::detail {

struct EstimatorProfileShape;

/// Complex numbers: real and imaginary parts in separate arrays.
struct SplitComplex {
    const float* re;
    const float* im;
};
struct SplitComplexOut {
    float* re;
    float* im;
};

/// The resource elements of an antenna in a DM-RS symbol.
struct EstimatorResidualRows {
    const float* received;   ///< real and imaginary parts alternating
    SplitComplex pilots;     ///< 0 where there are none
    const float* channel;    ///< (layers, 2) rows
    std::size_t of_channel;  ///< floats from row to row
    const float* signs;      ///< (layers) rows
    std::size_t of_signs;
    int layers;
    float phase_re;  ///< of the symbol, times the amplitude of pilots
    float phase_im;
};

/// Unless stated otherwise, any count is valid, and nothing beyond it is read or written.
struct EstimatorKernels {
    /// Returns false if a pilot has no room_of().
    bool (*least_squares)(SplitComplex received, SplitComplex pilots, float scale, SplitComplexOut out,
                          int count);

    /// Adds to lanes[quantity][lane]; count is a multiple of estimator_lanes, and one element after
    /// it is read.
    void (*row_sums)(SplitComplex pilots, int count, float* lanes);
    /// Adds conj(x) y to lanes[2][lane]; count is a multiple of estimator_lanes.
    void (*correlate)(SplitComplex x, SplitComplex y, int count, float* lanes);
    /// Adds x y, or x keep y if keep is not null, to lanes[lane].
    void (*dot)(const float* x, const float* y, const float* keep, int count, float* lanes);

    /// Residuals of an antenna's pilots in neighbouring subcarriers. Reads whole vectors of samples.
    void (*residuals)(const EstimatorResidualRows& rows, SplitComplexOut out, int count);
    /// Writes the sum of x conj(y) to sum[2].
    void (*sum_products)(SplitComplex x, SplitComplex y, int count, float* sum);

    /// exp(2 pi j index step).
    void (*rotate)(const float* index, float step, SplitComplexOut out, int count);
    /// (sum of weights[i] rows[i]) x ramp.
    void (*combine)(const SplitComplex* rows, const SplitComplex* weights, int rows_count, SplitComplex ramp,
                    SplitComplexOut out, int count);

    /// Folds `half` elements of x with their mirrors; mirror points at the mirror of the first, which is the
    /// last of them. Sums go to out, differences to out + distance.
    void (*fold)(SplitComplex x, SplitComplex mirror, int half, SplitComplexOut out, int distance);

    /// y[c][n] = (accumulates ? y[c][n] : 0) + sum over k, in order, of a[k][n] x[c][k]. n_count is a
    /// multiple of 16; a_stride is that of a's rows.
    void (*multiply)(const float* a, int a_stride, int k_count, const float* x, int x_stride, float* y,
                     int y_stride, int columns, int n_count, bool accumulates);

    /// Adds the power of bins to `to` (bins, estimator_transform_lanes). There is one transform per lane of a
    /// vector.
    void (*add_powers)(const float* lanes_of_bins, int bins, float* to);
    /// y[i] = sum over k, in order, of kernel[k] x[i + k]. Reads and writes whole vectors.
    void (*convolve)(const float* x, const float* kernel, int taps, float* y, int count);
    /// See profile-inl.h; noise is that of a bin.
    void (*first_guesses)(const float* powers, float noise, const EstimatorProfileShape& profile, float* out);
    void (*ratios)(const float* measured, const float* expected, float noise, float* out, int count);
    void (*next_guesses)(const float* ratios, const float* over, float* x, int count);

    /// y[r][n] = sum over k, in order, of a[k][n] x[r][k]. n_count is a multiple of
    /// estimator_column_multiple.
    void (*multiply_exactly)(const double* a, int a_stride, int k_count, const double* x, int x_stride,
                             double* y, int y_stride, int rows, int n_count);
    void (*scale_delays)(const double* x, const double* factors, int count, double* out);
    /// Gauss-Jordan elimination by columns, one for each of the first rows, in order: rows behind them become
    /// their product with the inverse of the first ones. width: as n_count.
    void (*eliminate)(double* rows, int width, int count, const int* columns, int pivots);

    /// (x, y) becomes (x + y, x - y).
    void (*sum_and_difference)(float* x, float* y, int count);

    /// Inverts fold() for `count` elements: a and b are the even and the odd part of a column. If count is
    /// odd, a has the middle as it is.
    void (*unfold)(SplitComplex a, SplitComplex b, int count, SplitComplexOut out);
    /// out = x times the conjugate of y.
    void (*rotate_back)(SplitComplex x, SplitComplex y, SplitComplexOut out, int count);
};

}  // namespace phy::detail
