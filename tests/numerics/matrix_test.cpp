#include "phy/numerics/matrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace {

using Eigen::Index;
using phy::detail::Decomposition;
using phy::detail::Matrix;
using phy::detail::Vector;

constexpr std::uint64_t seed = 15;

Matrix random_matrix(Index rows, Index columns, std::mt19937_64& random) {
    std::normal_distribution<double> normal;
    Matrix result(rows, columns);
    for (Index j = 0; j < columns; ++j)
        for (Index i = 0; i < rows; ++i)
            result(i, j) = normal(random);
    return result;
}

double largest_of(const Matrix& matrix) {
    return matrix.size() == 0 ? 0.0 : matrix.cwiseAbs().maxCoeff();
}

/// Products are Eigen's here: the test has no interest in their last bits.
void expect_decomposition(const Matrix& matrix, const Decomposition& found) {
    const Index n = matrix.rows();
    const double most =
        1e-14 * std::sqrt(static_cast<double>(n)) * std::max(largest_of(found.values), 1e-300);
    EXPECT_LE(largest_of(matrix * found.vectors - found.vectors * found.values.asDiagonal()), most)
        << n << " rows, seed " << seed;
    EXPECT_LE(largest_of(found.vectors.transpose() * found.vectors - Matrix::Identity(n, n)), 1e-13)
        << n << " rows, seed " << seed;
    EXPECT_TRUE(std::is_sorted(found.values.data(), found.values.data() + n, std::greater<>()));
}

TEST(Matrix, OfAnySizeHasEigenvectorsAndEigenvalues) {
    std::mt19937_64 random(seed);
    for (const Index n : {1, 2, 3, 4, 5, 17, 72, 150}) {
        const Matrix a = random_matrix(n, n, random);
        expect_decomposition(a + a.transpose(), phy::detail::decompose(a + a.transpose()));
    }
}

// As those of a channel are: few that count, and the others are what rounding leaves.
TEST(Matrix, EigenvaluesThatFallFastAreFound) {
    std::mt19937_64 random(seed);
    constexpr Index n = 60;
    const Matrix basis = phy::detail::decompose([&] {
                             const Matrix a = random_matrix(n, n, random);
                             return Matrix(a + a.transpose());
                         }())
                             .vectors;
    Vector values(n);
    for (Index i = 0; i < n; ++i)
        values[i] = std::max(std::exp2(-2.0 * static_cast<double>(i)), 1e-30);
    const Matrix matrix = basis * values.asDiagonal() * basis.transpose();
    const Decomposition found = phy::detail::decompose(0.5 * (matrix + matrix.transpose()));
    expect_decomposition(matrix, found);
    EXPECT_LE(largest_of(found.values - values), 1e-14);
}

TEST(Matrix, WithoutWorkIsDone) {
    for (const Index n : {1, 2, 9}) {
        expect_decomposition(Matrix::Zero(n, n), phy::detail::decompose(Matrix::Zero(n, n)));
        expect_decomposition(Matrix::Identity(n, n), phy::detail::decompose(Matrix::Identity(n, n)));
        expect_decomposition(Matrix::Ones(n, n), phy::detail::decompose(Matrix::Ones(n, n)));
    }
}

TEST(Matrix, ProductsAreSummedInTheOrderOfColumns) {
    std::mt19937_64 random(seed);
    for (const Index inner : {0, 1, 7, 1000}) {
        const Matrix a = random_matrix(9, inner, random);
        const Matrix b = random_matrix(inner, 5, random);
        const Matrix found = phy::detail::product(a, b);
        ASSERT_EQ(found.rows(), 9);
        ASSERT_EQ(found.cols(), 5);
        for (Index i = 0; i < 9; ++i) {
            for (Index j = 0; j < 5; ++j) {
                volatile double sum = 0.0;  // each operation is rounded
                for (Index k = 0; k < inner; ++k) {
                    volatile double term = a(i, k) * b(k, j);
                    sum = sum + term;
                }
                ASSERT_EQ(found(i, j), sum) << inner << " columns, seed " << seed;
            }
        }
    }
    EXPECT_EQ(phy::detail::sum_of(Vector::Constant(3, 0.1)), (0.1 + 0.1) + 0.1);
}

}  // namespace
