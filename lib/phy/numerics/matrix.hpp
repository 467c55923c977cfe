#pragma once

#include <Eigen/Core>

/// Sums and products of binary64 in one order, whatever the processor: Eigen's follow its caches and its
/// vectors, and their last bits would reach soft bits.
namespace phy::detail {

using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// From the first element to the last.
double sum_of(const Eigen::Ref<const Vector>& values);

/// a b; each element is summed from the first column of a to the last.
Matrix product(const Matrix& a, const Matrix& b);

/// Eigenvectors, one a column, and their eigenvalues, the largest first.
struct Decomposition {
    Matrix vectors;
    Vector values;
};

/// Of a symmetric matrix, to about 1e-15 of its largest eigenvalue: Householder's tridiagonal form, then QL
/// with implicit shifts. Throws Error if that does not end.
Decomposition decompose(const Matrix& symmetric);

}  // namespace phy::detail
