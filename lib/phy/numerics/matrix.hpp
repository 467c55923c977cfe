#pragma once

#include <cstddef>
#include <span>
#include <vector>

/// Sums and products of binary64 in a fixed order on every processor: their last bits affect soft bits.
namespace phy::detail {

/// A matrix of binary64, stored by columns.
class Matrix {
public:
    Matrix() = default;
    Matrix(std::size_t rows, std::size_t columns) : rows_(rows), columns_(columns), data_(rows * columns) {}

    [[nodiscard]] std::size_t rows() const { return rows_; }
    [[nodiscard]] std::size_t columns() const { return columns_; }

    double& operator()(std::size_t row, std::size_t column) { return data_[column * rows_ + row]; }
    double operator()(std::size_t row, std::size_t column) const { return data_[column * rows_ + row]; }

    std::span<double> column(std::size_t index) { return {data_.data() + index * rows_, rows_}; }
    [[nodiscard]] std::span<const double> column(std::size_t index) const {
        return {data_.data() + index * rows_, rows_};
    }

    /// Keeps the first count columns. Precondition: count <= columns().
    void keep_columns(std::size_t count) {
        data_.resize(rows_ * count);
        columns_ = count;
    }

private:
    std::size_t rows_ = 0;
    std::size_t columns_ = 0;
    std::vector<double> data_;
};

Matrix transposed(const Matrix& a);

/// a diag(factors)
Matrix scaled_columns(Matrix a, std::span<const double> factors);

/// diag(factors) a
Matrix scaled_rows(Matrix a, std::span<const double> factors);

/// Both add from the first element to the last.
double sum_of(std::span<const double> values);
double dot(std::span<const double> a, std::span<const double> b);

/// a b; each element is summed from the first column of a to the last.
Matrix product(const Matrix& a, const Matrix& b);

/// a a^T with the bytes of product(a, transposed(a)), of which it sums one half.
Matrix squared(const Matrix& a);

/// Solves a x = b for a small positive definite matrix, by Gaussian elimination without pivots.
std::vector<double> solved(Matrix a, std::vector<double> b);

/// Eigenvectors, one per column, and their eigenvalues, largest first.
struct Decomposition {
    Matrix vectors;
    std::vector<double> values;
};

/// The eigendecomposition of a symmetric matrix, to about 1e-15 of its largest eigenvalue: Householder
/// tridiagonalisation, then QL with implicit shifts. Throws Error if QL does not converge.
Decomposition decompose(const Matrix& symmetric);

}  // namespace phy::detail
