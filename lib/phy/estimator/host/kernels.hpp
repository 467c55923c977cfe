#pragma once

namespace phy::detail {

/// Complex numbers: real and imaginary parts in separate arrays.
struct SplitComplex {
    const float* re;
    const float* im;
};
struct SplitComplexOut {
    float* re;
    float* im;
};

/// Unless stated otherwise, any count is valid, and nothing beyond it is read or written.
struct EstimatorKernels {
    /// Returns false if a pilot has no room_of().
    bool (*least_squares)(SplitComplex received, SplitComplex pilots, float scale, SplitComplexOut out,
                          int count);

    /// Adds to lanes[quantity][lane]; count is a multiple of estimator_lanes, and elements up to the longest
    /// lag after it are read.
    void (*row_sums)(SplitComplex pilots, int count, float* lanes);
    /// Adds conj(x) y to lanes[2][lane]; count is a multiple of estimator_lanes.
    void (*correlate)(SplitComplex x, SplitComplex y, int count, float* lanes);
    /// Adds x y, or x keep y if keep is not null, to lanes[lane].
    void (*dot)(const float* x, const float* y, const float* keep, int count, float* lanes);

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

    /// 1 / (lambda + noise_over_power).
    void (*gains)(const float* lambda, float noise_over_power, float* out, int count);
    void (*scale)(float* x, const float* factors, int count);
    /// (x, y) becomes (x + y, x - y).
    void (*sum_and_difference)(float* x, float* y, int count);

    /// Inverts fold(): a and b are halves of the real column and of the imaginary one.
    void (*unfold)(SplitComplex a, SplitComplex b, int half, SplitComplexOut out);
    /// out = x times the conjugate of y.
    void (*rotate_back)(SplitComplex x, SplitComplex y, SplitComplexOut out, int count);
};

}  // namespace phy::detail
