// The error of sums and means against the bound that phy/reduce/tree.hpp states.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include "reduce/reduce_cases.hpp"
#include "reduce/reduce_on_host.hpp"
#include "support/random_seed.hpp"

namespace {

using namespace phy_test;
using phy::Host;

/// By Neumaier's compensated summation, whose error is far below that of the sums it judges.
class ExactSum {
public:
    void add(long double term) {
        const long double next = sum_ + term;
        rest_ += std::fabs(sum_) >= std::fabs(term) ? (sum_ - next) + term : (term - next) + sum_;
        sum_ = next;
    }
    [[nodiscard]] long double value() const { return sum_ + rest_; }

private:
    long double sum_ = 0.0L;
    long double rest_ = 0.0L;
};

struct RowSums {
    explicit RowSums(const auto& row) {
        ExactSum all;
        ExactSum of_magnitudes;
        for (const auto element : row) {
            all.add(element);
            of_magnitudes.add(std::fabs(element));
        }
        sum = all.value();
        magnitudes = of_magnitudes.value();
    }
    long double sum;
    long double magnitudes;
};

template <class Real>
constexpr long double roundoff = std::numeric_limits<Real>::epsilon() / 2.0L;

/// What the error of a sum is of the sum of the magnitudes, at most.
template <class Real>
long double bound(std::size_t length) {
    std::size_t levels = 0;
    for (std::size_t blocks = (length + 4095) / 4096; blocks > 1; blocks = (blocks + 1) / 2)
        ++levels;
    const long double depth_roundoff = static_cast<long double>(32 + 7 + levels) * roundoff<Real>;
    return depth_roundoff / (1.0L - depth_roundoff);
}

struct Kind {
    const char* name;
    int number;
};
constexpr std::array<Kind, 4> kinds = {
    {{"all magnitudes", 0}, {"large beside small", 1}, {"alternating", 2}, {"one large, then small", 3}}};

template <class Real>
std::vector<Real> row_of(const Kind& kind, std::size_t length, std::uint64_t seed) {
    std::vector<Real> row = random_elements<Real>(length, seed);
    if (kind.number == 0) return row;
    for (std::size_t i = 0; i < length; ++i) {
        // From 1 to 2, with all of its bits.
        const Real small = Real(1) + std::fabs(row[i]) / Real(0x1p30);
        const bool is_large = kind.number == 1 ? i % 7 == 0 : i == 0;
        row[i] = kind.number == 2 ? small * (i % 2 == 0 ? Real(0x1p20) : Real(-0x1p20))
                                  : small * (is_large ? Real(0x1p26) : Real(1));
    }
    return row;
}

constexpr std::array<std::size_t, 6> lengths = {1, 100, 4096, 5000, 70'000, 1'000'003};

template <class Case>
void for_all_rows(const Case& expect) {
    const std::uint64_t seed = random_seed();
    const Host host({.threads = 0});
    for (const Kind& kind : kinds) {
        for (const std::size_t length : lengths) {
            SCOPED_TRACE(testing::Message() << kind.name << ", length " << length << ", seed " << seed);
            expect(host, kind, length, seed);
        }
    }
}

template <class Real>
void expect_bound_of_sum(const Host& host, const Kind& kind, std::size_t length, std::uint64_t seed) {
    const auto row = row_of<Real>(kind, length, seed);
    const RowSums exact(row);
    const long double sum = reduced<phy::Sum<Real>>(host, row, 1)[0];
    EXPECT_LE(std::fabs(sum - exact.sum), bound<Real>(length) * exact.magnitudes);
}

TEST(ReduceRowsError, OfSumsIsWithinTheBoundOfTheTree) {
    for_all_rows(expect_bound_of_sum<float>);
    for_all_rows(expect_bound_of_sum<double>);
}

TEST(ReduceRowsError, OfComplexSumsIsWithinTheBoundInEachComponent) {
    for_all_rows([](const Host& host, const Kind& kind, std::size_t length, std::uint64_t seed) {
        const auto re = row_of<float>(kind, length, seed);
        const auto im = row_of<float>(kinds[(kind.number + 1) % kinds.size()], length, seed + 1);
        std::vector<std::complex<float>> row(length);
        for (std::size_t i = 0; i < length; ++i)
            row[i] = {re[i], im[i]};
        const std::complex<float> sum = reduced<phy::Sum<std::complex<float>>>(host, row, 1)[0];
        const RowSums exact_re(re);
        const RowSums exact_im(im);
        EXPECT_LE(std::fabs(sum.real() - exact_re.sum), bound<float>(length) * exact_re.magnitudes);
        EXPECT_LE(std::fabs(sum.imag() - exact_im.sum), bound<float>(length) * exact_im.magnitudes);
    });
}

TEST(ReduceRowsError, OfMeansIsThatOfTheSumAndOneDivision) {
    for_all_rows([](const Host& host, const Kind& kind, std::size_t length, std::uint64_t seed) {
        const auto row = row_of<float>(kind, length, seed);
        const RowSums exact(row);
        const long double mean = reduced<phy::Mean<float>>(host, row, 1)[0];
        const long double of_sum = bound<float>(length) * exact.magnitudes;
        const long double of_division = roundoff<float> * (std::fabs(exact.sum) + of_sum);
        const auto count = static_cast<long double>(length);
        EXPECT_LE(std::fabs(mean - exact.sum / count), (of_sum + of_division) / count);
    });
}

}  // namespace
