#include "phy/numerics/matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <vector>

namespace {

using phy::detail::Decomposition;
using phy::detail::Matrix;

constexpr std::uint64_t seed = 15;

Matrix random_matrix(std::size_t rows, std::size_t columns, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    Matrix result(rows, columns);
    for (std::size_t j = 0; j < columns; ++j)
        for (std::size_t i = 0; i < rows; ++i)
            result(i, j) = normal(random);
    return result;
}

Matrix random_symmetric(std::size_t n, std::mt19937_64& random) {
    const Matrix a = random_matrix(n, n, random);
    Matrix result(n, n);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < n; ++i)
            result(i, j) = a(i, j) + a(j, i);
    return result;
}

/// diagonal on the diagonal, other elsewhere
Matrix constant_matrix(std::size_t n, double diagonal, double other) {
    Matrix result(n, n);
    for (std::size_t j = 0; j < n; ++j)
        for (std::size_t i = 0; i < n; ++i)
            result(i, j) = i == j ? diagonal : other;
    return result;
}

double largest_of(const std::vector<double>& values) {
    double most = 0.0;
    for (const double value : values)
        most = std::max(most, std::abs(value));
    return most;
}

/// The largest element of A V - V diag(values) and that of V^T V - I, in extended precision.
void expect_decomposition(const Matrix& matrix, const Decomposition& found) {
    const std::size_t n = matrix.rows();
    ASSERT_EQ(found.vectors.rows(), n);
    ASSERT_EQ(found.vectors.columns(), n);
    ASSERT_EQ(found.values.size(), n);
    long double residual = 0.0L;
    long double skew = 0.0L;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            long double image = -static_cast<long double>(found.vectors(i, j)) * found.values[j];
            long double angle = i == j ? -1.0L : 0.0L;
            for (std::size_t k = 0; k < n; ++k) {
                image += static_cast<long double>(matrix(i, k)) * found.vectors(k, j);
                angle += static_cast<long double>(found.vectors(k, i)) * found.vectors(k, j);
            }
            residual = std::max(residual, std::abs(image));
            skew = std::max(skew, std::abs(angle));
        }
    }
    const double most =
        1e-14 * std::sqrt(static_cast<double>(n)) * std::max(largest_of(found.values), 1e-300);
    EXPECT_LE(residual, most) << n << " rows, seed " << seed;
    EXPECT_LE(skew, 1e-13L) << n << " rows, seed " << seed;
    EXPECT_TRUE(std::is_sorted(found.values.begin(), found.values.end(), std::greater<>()));
}

TEST(Matrix, OfAnySizeHasEigenvectorsAndEigenvalues) {
    std::mt19937_64 random(seed);
    for (const std::size_t n : {1, 2, 3, 4, 5, 17, 72, 150}) {
        const Matrix a = random_symmetric(n, random);
        expect_decomposition(a, phy::detail::decompose(a));
    }
}

// As those of a channel are: few that count, and the others are what rounding leaves.
TEST(Matrix, EigenvaluesThatFallFastAreFound) {
    std::mt19937_64 random(seed);
    constexpr std::size_t n = 60;
    const Matrix basis = phy::detail::decompose(random_symmetric(n, random)).vectors;
    std::vector<double> values(n);
    for (std::size_t i = 0; i < n; ++i)
        values[i] = std::max(std::exp2(-2.0 * static_cast<double>(i)), 1e-30);
    Matrix matrix(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            for (std::size_t k = 0; k < n; ++k)
                matrix(i, j) += basis(i, k) * values[k] * basis(j, k);
            matrix(j, i) = matrix(i, j);
        }
    }
    const Decomposition found = phy::detail::decompose(matrix);
    expect_decomposition(matrix, found);
    for (std::size_t i = 0; i < n; ++i)
        EXPECT_NEAR(found.values[i], values[i], 1e-14) << i;
}

TEST(Matrix, WithoutWorkIsDone) {
    for (const std::size_t n : {1, 2, 9}) {
        for (const Matrix& matrix :
             {constant_matrix(n, 0.0, 0.0), constant_matrix(n, 1.0, 0.0), constant_matrix(n, 1.0, 1.0)})
            expect_decomposition(matrix, phy::detail::decompose(matrix));
    }
}

TEST(Matrix, ProductsAreSummedInTheOrderOfColumns) {
    std::mt19937_64 random(seed);
    for (const std::size_t inner : {0, 1, 7, 1000}) {
        const Matrix a = random_matrix(9, inner, random);
        const Matrix b = random_matrix(inner, 5, random);
        const Matrix found = phy::detail::product(a, b);
        ASSERT_EQ(found.rows(), 9);
        ASSERT_EQ(found.columns(), 5);
        for (std::size_t i = 0; i < 9; ++i) {
            for (std::size_t j = 0; j < 5; ++j) {
                volatile double sum = 0.0;  // each operation is rounded
                for (std::size_t k = 0; k < inner; ++k) {
                    volatile double term = a(i, k) * b(k, j);
                    sum = sum + term;
                }
                ASSERT_EQ(found(i, j), sum) << inner << " columns, seed " << seed;
            }
        }
    }
}

TEST(Matrix, TimesItsTransposeIsThatProduct) {
    std::mt19937_64 random(seed);
    for (const std::size_t columns : {1, 6, 100}) {
        const Matrix a = random_matrix(9, columns, random);
        const Matrix expected = phy::detail::product(a, phy::detail::transposed(a));
        const Matrix found = phy::detail::squared(a);
        for (std::size_t j = 0; j < 9; ++j)
            EXPECT_TRUE(std::ranges::equal(found.column(j), expected.column(j))) << columns << " columns";
    }
}

TEST(Matrix, EquationsAreSolved) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    for (const std::size_t size : {1U, 2U, 5U, 17U}) {
        Matrix factor(size, size);
        std::vector<double> expected(size);
        for (std::size_t i = 0; i < size; ++i) {
            expected[i] = normal(random);
            for (std::size_t k = 0; k < size; ++k)
                factor(i, k) = normal(random);
        }
        Matrix a = squared(factor);
        for (std::size_t i = 0; i < size; ++i)
            a(i, i) += 1.0;
        std::vector<double> b(size);
        for (std::size_t i = 0; i < size; ++i)
            for (std::size_t k = 0; k < size; ++k)
                b[i] += a(i, k) * expected[k];
        const std::vector<double> x = solved(a, b);
        for (std::size_t i = 0; i < size; ++i)
            EXPECT_NEAR(x[i], expected[i], 1e-12) << size;
    }
}

TEST(Matrix, SumsGoFromTheFirstElementToTheLast) {
    const std::vector<double> values = {0.1, 0.1, 0.1};
    EXPECT_EQ(phy::detail::sum_of(values), (0.1 + 0.1) + 0.1);
    EXPECT_EQ(phy::detail::dot(values, values), (0.1 * 0.1 + 0.1 * 0.1) + 0.1 * 0.1);
}

TEST(Matrix, RowsAndColumnsAreScaledAndCut) {
    Matrix a(2, 3);
    for (std::size_t j = 0; j < 3; ++j)
        for (std::size_t i = 0; i < 2; ++i)
            a(i, j) = static_cast<double>(10 * i + j + 1);
    const std::vector<double> by_row = {2.0, 3.0};
    const std::vector<double> by_column = {5.0, 6.0, 7.0};
    const Matrix rows = phy::detail::scaled_rows(a, by_row);
    const Matrix columns = phy::detail::scaled_columns(a, by_column);
    const Matrix flipped = phy::detail::transposed(a);
    for (std::size_t j = 0; j < 3; ++j) {
        for (std::size_t i = 0; i < 2; ++i) {
            EXPECT_EQ(rows(i, j), a(i, j) * by_row[i]);
            EXPECT_EQ(columns(i, j), a(i, j) * by_column[j]);
            EXPECT_EQ(flipped(j, i), a(i, j));
        }
    }
    const double last = a(1, 1);
    a.keep_columns(2);
    EXPECT_EQ(a.columns(), 2);
    EXPECT_EQ(a(1, 1), last);
}

}  // namespace
