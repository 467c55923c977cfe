#include "phy/numerics/elementary.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>

namespace phy::detail::elementary {
namespace {

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

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

constexpr DoubleDouble ln_2 = {0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
constexpr DoubleDouble ln_10 = {0x1.26bb1bbb55516p+1, -0x1.f48ad494ea3e9p-53};
constexpr DoubleDouble pi = {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53};

constexpr int exp_steps = 64;  // per power of two
constexpr int log_steps = 128;
constexpr int angle_steps = 64;  // per right angle

/// The sum of coefficients[first + step n] x^n for n < terms.
template <int terms, typename Real>
constexpr Real series(const std::array<DoubleDouble, 32>& coefficients, std::size_t first, std::size_t step,
                      Real x) {
    Real sum(coefficients[first + step * (terms - 1)]);
    for (std::size_t n = terms - 1; n-- > 0;)
        sum = sum * x + Real(coefficients[first + step * n]);
    return sum;
}

struct Tables {
    std::array<DoubleDouble, 32> reciprocal;            ///< 1 / n
    std::array<DoubleDouble, 32> inverse_factorial;     ///< 1 / n!
    std::array<DoubleDouble, exp_steps> power;          ///< 2^(i / exp_steps)
    std::array<DoubleDouble, 2 * log_steps> logarithm;  ///< -ln(i / log_steps), from 2/3 to 3/2
    std::array<DoubleDouble, angle_steps + 1> sine;     ///< sin(pi / 2 i / angle_steps)

    constexpr Tables();
};

constexpr Tables::Tables() : reciprocal{}, inverse_factorial{}, power{}, logarithm{}, sine{} {
    inverse_factorial[0] = 1.0;
    for (std::size_t n = 1; n < reciprocal.size(); ++n) {
        const auto number = static_cast<double>(n);
        reciprocal[n] = DoubleDouble(1.0) / number;
        inverse_factorial[n] = inverse_factorial[n - 1] / number;
    }
    for (std::size_t i = 0; i < power.size(); ++i)
        power[i] = series<30>(inverse_factorial, 0, 1, ln_2 * (static_cast<double>(i) / exp_steps));
    for (std::size_t i = log_steps * 2 / 3; i <= log_steps * 3 / 2; ++i) {
        // ln q = 2 artanh((q - 1) / (q + 1))
        const auto number = static_cast<double>(i);
        const DoubleDouble z = DoubleDouble(number - log_steps) / (number + log_steps);
        logarithm[i] = z * series<15>(reciprocal, 1, 2, z * z) * -2.0;
    }
    for (std::size_t i = 0; i <= angle_steps / 2; ++i) {
        const DoubleDouble angle = pi * (0.5 * static_cast<double>(i) / angle_steps);
        const DoubleDouble square = -(angle * angle);
        sine[i] = angle * series<15>(inverse_factorial, 1, 2, square);
        sine[angle_steps - i] = series<15>(inverse_factorial, 0, 2, square);
    }
}

constexpr Tables tables;

/// The nearest integer to x, for |x| < 2^51.
double nearest_integer(double x) {
    constexpr double places_of_integers = 0x1.8p52;
    return (x + places_of_integers) - places_of_integers;
}

/// A value and a bound of its error.
struct Estimate {
    DoubleDouble value;
    double error;
};

/// True if all values within the error round to the same number, which is the result.
bool rounds(const Estimate& estimate, double& result) {
    result = estimate.value.high + (estimate.value.low + estimate.error);
    return result == estimate.value.high + (estimate.value.low - estimate.error);
}

/// value * 2^exponent, rounded once, for values from 0.9 to 2.1.
double scaled(DoubleDouble value, int exponent) {
    if (exponent > -1020 && exponent < 1020)
        return value.high * std::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
    // At or above this the result is normal. Below it, the last place of this number becomes the last place
    // of subnormal numbers.
    const double normal = std::ldexp(1.0, -1022 - exponent);
    if (value.high >= normal) return std::ldexp(value.high, exponent);
    const DoubleDouble sum = exact_sum(normal, value.high);
    return std::ldexp((sum.high + (sum.low + value.low)) - normal, exponent);
}

/// e^(x.high + x.low).
double exp_of(DoubleDouble x) {
    if (std::isnan(x.high)) return x.high;
    if (x.high > 710.0) return infinity;
    if (x.high < -746.0) return 0.0;
    // ln 2 / exp_steps in three parts; products with the first two are exact.
    constexpr double step[] = {0x1.62e42fefap-7, 0x1.cf79abc9ep-46, 0x1.d9cc01f97b57ap-85};
    const double steps = nearest_integer(x.high * 0x1.71547652b82fep+6);
    const DoubleDouble sum = exact_sum(x.high - steps * step[0], -steps * step[1]);
    const DoubleDouble r = ordered_sum(sum.high, sum.low + (x.low - steps * step[2]));
    const int count = static_cast<int>(steps);
    const DoubleDouble power = tables.power[static_cast<std::size_t>(count & (exp_steps - 1))];
    const int exponent = (count - (count & (exp_steps - 1))) / exp_steps;

    const DoubleDouble linear = exact_product(power.high, r.high);
    const double tail =
        power.high * (r.low + r.high * r.high * series<7>(tables.inverse_factorial, 2, 1, r.high));
    const DoubleDouble first = ordered_sum(power.high, linear.high);
    const DoubleDouble second = ordered_sum(first.high, tail);
    const double low = second.low + (first.low + (linear.low + power.low * (1.0 + r.high)));
    double result = 0.0;
    if (exponent > -1020 && rounds({{second.high, low}, 0x1p-65}, result)) return scaled(result, exponent);
    return scaled(power + power * (r + r * r * series<14>(tables.inverse_factorial, 2, 1, r)), exponent);
}

/// An angle as a multiple of pi / 2 / angle_steps, and the rest.
struct ReducedAngle {
    int steps;
    DoubleDouble rest;
};

ReducedAngle reduced(double angle) {
    constexpr double step[] = {0x1.921fb54442d18p-6, 0x1.1a62633145c07p-60, -0x1.f1976b7ed8fbcp-116};
    const double steps = nearest_integer(angle * 0x1.45f306dc9c883p+5);
    const DoubleDouble high = exact_product(-steps, step[0]);
    const DoubleDouble low = exact_product(-steps, step[1]);
    // The first sum is exact.
    const DoubleDouble rest = DoubleDouble(angle + high.high) + high.low + low + -steps * step[2];
    return {static_cast<int>(steps), rest};
}

/// The sine of steps * pi / 2 / angle_steps.
DoubleDouble sine_of(int steps) {
    const auto of_turn = static_cast<std::size_t>(steps) % (4 * angle_steps);
    const std::size_t of_half = of_turn % (2 * angle_steps);
    const DoubleDouble sine = tables.sine[of_half <= angle_steps ? of_half : 2 * angle_steps - of_half];
    return of_turn == of_half ? sine : -sine;
}

/// (r - sin r) / r^3 and (1 - cos r) / r^2, from the square of r.
template <int terms, typename Real>
Real sine_tail(Real square) {
    return series<terms>(tables.inverse_factorial, 3, 2, -square);
}
template <int terms, typename Real>
Real cosine_tail(Real square) {
    return series<terms>(tables.inverse_factorial, 2, 2, -square);
}

/// sine cos(r) + cosine sin(r), to 2^-100.
DoubleDouble precise_sum_of_angles(DoubleDouble sine, DoubleDouble cosine, DoubleDouble r) {
    const DoubleDouble square = r * r;
    return sine + (cosine * (r - r * square * sine_tail<6>(square)) - sine * square * cosine_tail<7>(square));
}

double sine_of_sum(DoubleDouble sine, DoubleDouble cosine, DoubleDouble r) {
    const double square = r.high * r.high;
    const DoubleDouble linear = exact_product(cosine.high, r.high);
    const double tail = cosine.high * (r.low - r.high * square * sine_tail<3>(square)) -
                        sine.high * (square * cosine_tail<4>(square));
    const DoubleDouble first = exact_sum(sine.high, linear.high);
    const DoubleDouble second = exact_sum(first.high, tail);
    const double low = second.low + (first.low + (linear.low + (cosine.low * r.high + sine.low)));
    const double error = sine.high == 0.0 ? std::abs(second.high) * 0x1p-60 : 0x1p-64;
    double result = 0.0;
    if (rounds({{second.high, low}, error}, result)) return result;
    return precise_sum_of_angles(sine, cosine, r).high;
}

/// Below this magnitude sin x rounds to x, and cos x to 1.
constexpr double min_angle = 0x1p-27;

/// sin(angle + quarters pi / 2).
double sine_beyond(double angle, int quarters) {
    if (!(std::abs(angle) <= largest_angle)) return not_a_number;
    if (std::abs(angle) < min_angle) return quarters == 0 ? angle : 1.0;
    const ReducedAngle from = reduced(angle);
    const int steps = from.steps + quarters * angle_steps;
    return sine_of_sum(sine_of(steps), sine_of(steps + angle_steps), from.rest);
}

/// The angle, from 0 to pi / 4, whose tangent is opposite / adjacent.
DoubleDouble angle_of_ratio(double opposite, double adjacent) {
    const double ratio = opposite / adjacent;
    if (ratio < 0x1p-43) return ratio;
    const double near = ratio * (0.785 + 0.273 * (1.0 - ratio));
    const ReducedAngle from = reduced(near);
    const DoubleDouble sine_of_steps = sine_of(from.steps);
    const DoubleDouble cosine_of_steps = sine_of(from.steps + angle_steps);
    const DoubleDouble sine = precise_sum_of_angles(sine_of_steps, cosine_of_steps, from.rest);
    const DoubleDouble cosine = precise_sum_of_angles(cosine_of_steps, -sine_of_steps, from.rest);
    const DoubleDouble tangent =
        (cosine * opposite - sine * adjacent) / (cosine * adjacent + sine * opposite);
    return tangent * series<8>(tables.reciprocal, 1, 2, -(tangent * tangent)) + near;
}

}  // namespace

double exp(double x) {
    return exp_of(x);
}

double exp10(double x) {
    if (!(std::abs(x) < 400.0)) return std::isnan(x) ? x : x > 0.0 ? infinity : 0.0;
    return exp_of(ln_10 * x);
}

double log(double x) {
    if (!(x > 0.0) || x == infinity) return x == 0.0 ? -infinity : x < 0.0 ? not_a_number : x;
    int exponent = 0;
    double part = std::frexp(x, &exponent);
    if (part < 0.5 * std::numbers::sqrt2) {
        part *= 2.0;
        --exponent;
    }
    const auto index = static_cast<std::size_t>(nearest_integer(log_steps / part));
    const DoubleDouble of_index = tables.logarithm[index];
    const DoubleDouble product = exact_product(part, static_cast<double>(index) / log_steps);
    const DoubleDouble r = ordered_sum(product.high - 1.0, product.low);

    // ln 2 in two parts; a product with the first is exact.
    constexpr double of_two = 0x1.62e42fefa3800p-1;
    constexpr DoubleDouble rest_of_two = {0x1.ef35793c76730p-45, 0x1.f97b57a079a19p-103};
    const DoubleDouble first = exact_sum(exponent * of_two, of_index.high);
    const DoubleDouble second = exact_sum(first.high, r.high);
    const DoubleDouble third =
        exact_sum(second.high, -r.high * r.high * series<10>(tables.reciprocal, 2, 1, -r.high));
    const double low =
        third.low +
        (second.low + (first.low + (of_index.low + r.low * (1.0 - r.high) + exponent * rest_of_two.high)));
    const bool is_near_one = exponent == 0 && index == log_steps;
    const double error = is_near_one ? std::abs(third.high) * 0x1p-60 : 0x1p-66;
    double result = 0.0;
    if (rounds({{third.high, low}, error}, result)) return result;
    const DoubleDouble powers = DoubleDouble(exponent * of_two) + rest_of_two * exponent;
    return (powers + (of_index + (r - r * r * series<15>(tables.reciprocal, 2, 1, -r)))).high;
}

double decibels(double x) {
    return 10.0 * log(x) / ln_10.high;
}

double power_ratio(double decibels) {
    if (!(std::abs(decibels) < 4000.0)) return exp10(decibels);
    return exp_of(ln_10 * (DoubleDouble(decibels) / 10.0));
}

double cos(double angle) {
    return sine_beyond(angle, 1);
}

double sin(double angle) {
    return sine_beyond(angle, 0);
}

std::complex<double> phasor(double angle) {
    return {cos(angle), sin(angle)};
}

std::complex<double> turn(double turns) {
    const double eighths = std::floor(8.0 * (turns - std::floor(turns)) + 0.5);
    const double rest = 2.0 * std::numbers::pi * (turns - std::floor(turns) - eighths / 8.0);
    constexpr double c = std::numbers::sqrt2 / 2.0;
    constexpr std::complex<double> of_eighth[] = {{1, 0},   {c, c},  {0, 1},  {-c, c}, {-1, 0},
                                                  {-c, -c}, {0, -1}, {c, -c}, {1, 0}};
    const std::complex<double> corner = of_eighth[static_cast<int>(eighths)];
    return rest == 0.0 ? corner : corner * phasor(rest);
}

double angle_of(std::complex<double> value) {
    double x = std::abs(value.real());
    double y = std::abs(value.imag());
    if (!std::isfinite(x) || !std::isfinite(y)) return not_a_number;
    int exponent = 0;
    std::frexp(std::max(x, y), &exponent);
    x = std::ldexp(x, -exponent);
    y = std::ldexp(y, -exponent);
    if (x == 0.0 && y == 0.0) return 0.0;
    DoubleDouble angle = y <= x ? angle_of_ratio(y, x) : pi * 0.5 - angle_of_ratio(x, y);
    if (value.real() < 0.0) angle = pi - angle;
    return std::copysign(angle.high, value.imag());
}

// Small x: the series of e^(x^2) erf(x), whose terms are positive. Large x: the integral of e^(-t^2) x / (x^2
// + t^2) / pi as a sum over equidistant t, whose error is e^(-pi^2 / width^2), plus the residue at t = j x.
double erfc(double x) {
    constexpr double border = 0.75;
    constexpr double width = 0.5;
    constexpr double no_residue = 6.0;
    constexpr double is_zero = 28.0;
    if (std::isnan(x) || x < 0.0) return not_a_number;
    if (x > is_zero) return 0.0;
    const double bell = exp_of(-exact_product(x, x));
    if (x < border) {
        double sum = 0.0;
        for (int n = 18; n >= 0; --n)
            sum = 1.0 + sum * (2.0 * x * x / (2 * n + 3));
        return 1.0 - std::numbers::inv_sqrtpi * 2.0 * bell * x * sum;
    }
    static const std::array<double, 14> bells = [] {
        std::array<double, 14> values{};
        for (std::size_t n = 0; n < values.size(); ++n) {
            const double t = width * static_cast<double>(n);
            values[n] = elementary::exp(-t * t);
        }
        return values;
    }();
    double sum = 0.0;
    for (std::size_t n = bells.size() - 1; n > 0; --n) {
        const double t = width * static_cast<double>(n);
        sum += bells[n] / (t * t + x * x);
    }
    const double result = width * std::numbers::inv_pi * x * bell * (2.0 * sum + 1.0 / (x * x));
    if (x > no_residue) return result;
    return result - 2.0 / (exp(2.0 * std::numbers::pi / width * x) - 1.0);
}

double bessel_j0(double x) {
    // The mean of cos(x sin angle) over a quarter of a circle. Of N angles in a circle it is exact but for
    // 2 J_N(x): nothing here, with N = 4 x 126, and for |x| < 64 with every third angle.
    constexpr std::size_t angles = 126;
    static const std::array<double, angles> sines = [] {
        std::array<double, angles> values{};
        for (std::size_t i = 0; i < angles; ++i)
            values[i] = turn(static_cast<double>(2 * i + 1) * (0.125 / angles)).imag();
        return values;
    }();
    const std::size_t step = std::fabs(x) < 64.0 ? 3 : 1;
    double sum = 0.0;
    for (std::size_t i = step / 2; i < angles; i += step)
        sum += cos(x * sines[i]);
    return sum * static_cast<double>(step) / angles;
}

}  // namespace phy::detail::elementary
