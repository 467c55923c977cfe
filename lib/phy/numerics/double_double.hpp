#pragma once

namespace phy::detail {

/// An unevaluated sum of two doubles with about 106 bits; low is at most half a unit in the last place of
/// high. Uses only additions, multiplications and divisions: an fma that the processor lacks is a slow call.
/// Functions marked exact are so unless a result overflows or underflows.
struct DoubleDouble {
    double high = 0.0;
    double low = 0.0;

    constexpr DoubleDouble() = default;
    constexpr DoubleDouble(double head, double tail = 0.0)
        : high(head), low(tail) {}  // NOLINT(google-explicit-constructor)
    constexpr explicit operator double() const { return high; }
};

/// a + b, exact for |a| >= |b| or a = 0.
constexpr DoubleDouble ordered_sum(double a, double b) {
    const double sum = a + b;
    return {sum, b - (sum - a)};
}

/// a + b, exact.
constexpr DoubleDouble exact_sum(double a, double b) {
    const double sum = a + b;
    const double of_b = sum - a;
    return {sum, (a - (sum - of_b)) + (b - of_b)};
}

/// a b, exact for magnitudes below 2^500.
constexpr DoubleDouble exact_product(double a, double b) {
    constexpr double half_of_bits = 134217729.0;  // 2^27 + 1
    const double wide_a = half_of_bits * a;
    const double wide_b = half_of_bits * b;
    const double head_a = wide_a - (wide_a - a);
    const double head_b = wide_b - (wide_b - b);
    const double tail_a = a - head_a;
    const double tail_b = b - head_b;
    const double product = a * b;
    return {product, ((head_a * head_b - product) + head_a * tail_b + tail_a * head_b) + tail_a * tail_b};
}

constexpr DoubleDouble operator-(DoubleDouble a) {
    return {-a.high, -a.low};
}

constexpr DoubleDouble operator+(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble high = exact_sum(a.high, b.high);
    const DoubleDouble low = exact_sum(a.low, b.low);
    const DoubleDouble sum = ordered_sum(high.high, high.low + low.high);
    return ordered_sum(sum.high, sum.low + low.low);
}

constexpr DoubleDouble operator-(DoubleDouble a, DoubleDouble b) {
    return a + -b;
}

constexpr DoubleDouble operator*(DoubleDouble a, DoubleDouble b) {
    const DoubleDouble product = exact_product(a.high, b.high);
    return ordered_sum(product.high, product.low + (a.high * b.low + a.low * b.high));
}

constexpr DoubleDouble operator/(DoubleDouble a, DoubleDouble b) {
    const double first = a.high / b.high;
    const DoubleDouble rest = a - b * DoubleDouble(first);
    const double second = rest.high / b.high;
    const DoubleDouble least = rest - b * DoubleDouble(second);
    return ordered_sum(first, second) + DoubleDouble(least.high / b.high);
}

}  // namespace phy::detail
