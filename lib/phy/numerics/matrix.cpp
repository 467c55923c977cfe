#include "phy/numerics/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

using Eigen::Index;

/// to += factor from, for `count` elements.
void add_multiple(double* to, const double* from, double factor, Index count) {
    for (Index i = 0; i < count; ++i)
        to[i] += factor * from[i];
}

double dot(const double* a, const double* b, Index count) {
    double sum = 0.0;
    for (Index i = 0; i < count; ++i)
        sum += a[i] * b[i];
    return sum;
}

/// What is left of a symmetric matrix Q T Q^T.
struct Tridiagonal {
    Vector diagonal;
    Vector beside;  ///< between rows i and i + 1; 0 behind the last
    Matrix q;
};

/// A reflection I - factor v v^T that turns x into a multiple of its first element. Returns factor; x becomes
/// v, and `image` that multiple. 0: x is one already.
double reflection(double* x, Index count, double& image) {
    const double rest = dot(x + 1, x + 1, count - 1);
    image = x[0];
    if (rest < std::numeric_limits<double>::min()) return 0.0;
    image = -std::copysign(std::sqrt(x[0] * x[0] + rest), x[0]);
    x[0] -= image;
    return 2.0 / (x[0] * x[0] + rest);
}

Tridiagonal tridiagonal(Matrix a) {
    const Index n = a.rows();
    Tridiagonal result = {Vector(n), Vector::Zero(n), {}};
    Vector factors = Vector::Zero(n);
    Vector w(n);
    for (Index k = 0; k + 2 < n; ++k) {
        const Index count = n - k - 1;
        double* const v = &a(k + 1, k);
        factors[k] = reflection(v, count, result.beside[k]);
        if (factors[k] == 0.0) continue;
        // B - v w^T - w v^T, where w = factor B v - factor^2 (v^T B v) v / 2.
        std::fill_n(w.data(), count, 0.0);
        for (Index j = 0; j < count; ++j)
            add_multiple(w.data(), &a(k + 1, k + 1 + j), factors[k] * v[j], count);
        add_multiple(w.data(), v, -0.5 * factors[k] * dot(v, w.data(), count), count);
        for (Index j = 0; j < count; ++j) {
            add_multiple(&a(k + 1, k + 1 + j), v, -w[j], count);
            add_multiple(&a(k + 1, k + 1 + j), w.data(), -v[j], count);
        }
    }
    result.diagonal = a.diagonal();
    if (n > 1) result.beside[n - 2] = a(n - 1, n - 2);
    // Of the transpose, so that neighbours in memory are worked on together.
    Matrix transposed = Matrix::Identity(n, n);
    for (Index k = n - 3; k >= 0; --k) {
        const Index count = n - k - 1;
        const double* const v = &a(k + 1, k);
        std::fill_n(w.data(), count, 0.0);
        for (Index j = 0; j < count; ++j)
            add_multiple(w.data(), &transposed(k + 1, k + 1 + j), v[j], count);
        for (Index j = 0; j < count; ++j)
            add_multiple(&transposed(k + 1, k + 1 + j), w.data(), -factors[k] * v[j], count);
    }
    result.q = transposed.transpose();
    return result;
}

/// One step of QL with an implicit shift, of the rows from first to last, which no zero divides.
void do_step(Tridiagonal& t, Index first, Index last) {
    Vector& d = t.diagonal;
    Vector& e = t.beside;
    // The eigenvalue of the first two rows that is nearer to the first diagonal element.
    const double half_gap = 0.5 * (d[first + 1] - d[first]) / e[first];
    const double root = std::copysign(std::sqrt(half_gap * half_gap + 1.0), half_gap);
    double g = d[last] - (d[first] - e[first] / (half_gap + root));
    double sine = 1.0;
    double cosine = 1.0;
    double moved = 0.0;
    for (Index i = last - 1; i >= first; --i) {
        const double f = sine * e[i];
        const double b = cosine * e[i];
        const double length = std::sqrt(f * f + g * g);
        e[i + 1] = length;
        if (length == 0.0) {
            d[i + 1] -= moved;
            e[last] = 0.0;
            return;
        }
        sine = f / length;
        cosine = g / length;
        g = d[i + 1] - moved;
        const double along = (d[i] - g) * sine + 2.0 * cosine * b;
        moved = sine * along;
        d[i + 1] = g + moved;
        g = cosine * along - b;
        double* const left = &t.q(0, i);
        double* const right = &t.q(0, i + 1);
        for (Index row = 0; row < t.q.rows(); ++row) {
            const double of_right = right[row];
            right[row] = sine * left[row] + cosine * of_right;
            left[row] = cosine * left[row] - sine * of_right;
        }
    }
    d[first] -= moved;
    e[first] = g;
    e[last] = 0.0;
}

void diagonalize(Tridiagonal& t) {
    constexpr int max_steps = 100;  // a few are enough
    const Index n = t.diagonal.size();
    double largest = 0.0;
    for (Index i = 0; i < n; ++i)
        largest = std::max(largest, std::abs(t.diagonal[i]) + std::abs(t.beside[i]));
    const double negligible = 0.1 * std::numeric_limits<double>::epsilon() * largest;
    for (Index first = 0; first < n; ++first) {
        for (int step = 0;; ++step) {
            Index last = first;
            while (last + 1 < n && std::abs(t.beside[last]) > negligible)
                ++last;
            if (last == first) break;
            if (step == max_steps) throw Error("estimator: the eigenvalues of a filter are not found");
            do_step(t, first, last);
        }
    }
}

}  // namespace

double sum_of(const Eigen::Ref<const Vector>& values) {
    double sum = 0.0;
    for (Index i = 0; i < values.size(); ++i)
        sum += values[i];
    return sum;
}

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix result = Matrix::Zero(a.rows(), b.cols());
    for (Index j = 0; j < b.cols(); ++j)
        for (Index k = 0; k < a.cols(); ++k)
            add_multiple(&result(0, j), &a(0, k), b(k, j), a.rows());
    return result;
}

Decomposition decompose(const Matrix& symmetric) {
    Tridiagonal t = tridiagonal(symmetric);
    diagonalize(t);
    const Index n = t.diagonal.size();
    std::vector<Index> order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), Index{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](Index a, Index b) { return t.diagonal[a] > t.diagonal[b]; });
    Decomposition result = {Matrix(n, n), Vector(n)};
    for (Index i = 0; i < n; ++i) {
        result.values[i] = t.diagonal[order[static_cast<std::size_t>(i)]];
        result.vectors.col(i) = t.q.col(order[static_cast<std::size_t>(i)]);
    }
    return result;
}

}  // namespace phy::detail
