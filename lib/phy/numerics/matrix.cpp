#include "phy/numerics/matrix.hpp"

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "phy/core/error.hpp"

namespace phy::detail {
namespace {

struct Term {
    double factor;
    const double* column;
};

/// to += factor * column, term after term. Several terms at a time load and store `to` once.
template <std::same_as<Term>... Terms>
void add(std::span<double> to, Terms... terms) {
    double* const y = to.data();
    for (std::size_t i = 0; i < to.size(); ++i)
        y[i] = (y[i] + ... + (terms.factor * terms.column[i]));
}

/// Adds scale * factors[j] times column first + j of a, in this order, from its given row on.
void add_columns(std::span<double> to, const Matrix& a, std::size_t row, std::size_t first,
                 std::span<const double> factors, double scale = 1.0) {
    const auto term = [&](std::size_t j) {
        return Term{scale * factors[j], a.column(first + j).data() + row};
    };
    std::size_t j = 0;
    for (; j + 4 <= factors.size(); j += 4)
        add(to, term(j), term(j + 1), term(j + 2), term(j + 3));
    for (; j < factors.size(); ++j)
        add(to, term(j));
}

/// A symmetric matrix A as Q T Q^T, T tridiagonal.
struct Tridiagonal {
    std::vector<double> diagonal;
    std::vector<double> beside;  ///< element (i, i + 1); 0 after the last
    Matrix q;
};

/// Finds the reflection I - factor v v^T that maps x to a vector (image, 0, ..., 0). Returns factor and
/// replaces x by v. Factor 0: x has that form already.
double reflection(std::span<double> x, double& image) {
    const double rest = dot(x.subspan(1), x.subspan(1));
    image = x[0];
    if (rest < std::numeric_limits<double>::min()) return 0.0;
    image = -std::copysign(std::sqrt(x[0] * x[0] + rest), x[0]);
    x[0] -= image;
    return 2.0 / (x[0] * x[0] + rest);
}

Tridiagonal tridiagonal(Matrix a) {
    const std::size_t n = a.rows();
    Tridiagonal result = {std::vector<double>(n), std::vector<double>(n), {}};
    std::vector<double> factors(n);
    std::vector<double> work(n);
    for (std::size_t k = 0; k + 2 < n; ++k) {
        const std::span<double> v = a.column(k).subspan(k + 1);
        const std::span<double> w = std::span(work).first(v.size());
        factors[k] = reflection(v, result.beside[k]);
        if (factors[k] == 0.0) continue;
        // B becomes B - v w^T - w v^T with w = factor B v - factor^2 (v^T B v) v / 2; B: the rest of the
        // matrix.
        std::fill(w.begin(), w.end(), 0.0);
        add_columns(w, a, k + 1, k + 1, v, factors[k]);
        add(w, Term{-0.5 * factors[k] * dot(v, w), v.data()});
        for (std::size_t j = 0; j < v.size(); ++j)
            add(a.column(k + 1 + j).subspan(k + 1), Term{-w[j], v.data()}, Term{-v[j], w.data()});
    }
    for (std::size_t i = 0; i < n; ++i)
        result.diagonal[i] = a(i, i);
    if (n > 1) result.beside[n - 2] = a(n - 1, n - 2);
    // The transpose of Q, so that the loops run along columns.
    Matrix q(n, n);
    for (std::size_t i = 0; i < n; ++i)
        q(i, i) = 1.0;
    for (std::size_t k = n < 2 ? 0 : n - 2; k-- > 0;) {
        const std::span<const double> v = a.column(k).subspan(k + 1);
        const std::span<double> w = std::span(work).first(v.size());
        std::fill(w.begin(), w.end(), 0.0);
        add_columns(w, q, k + 1, k + 1, v);
        for (std::size_t j = 0; j < v.size(); ++j)
            add(q.column(k + 1 + j).subspan(k + 1), Term{-factors[k] * v[j], w.data()});
    }
    result.q = transposed(q);
    return result;
}

/// One step of QL with an implicit shift on rows first to last, whose off-diagonal elements are not 0.
void do_step(Tridiagonal& t, std::size_t first, std::size_t last) {
    std::vector<double>& d = t.diagonal;
    std::vector<double>& e = t.beside;
    // Shift: the eigenvalue of the first two rows that is nearer to the first diagonal element.
    const double half_gap = 0.5 * (d[first + 1] - d[first]) / e[first];
    const double root = std::copysign(std::sqrt(half_gap * half_gap + 1.0), half_gap);
    double g = d[last] - (d[first] - e[first] / (half_gap + root));
    double sine = 1.0;
    double cosine = 1.0;
    double moved = 0.0;
    for (std::size_t i = last; i-- > first;) {
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
        double* const left = t.q.column(i).data();
        double* const right = t.q.column(i + 1).data();
        for (std::size_t row = 0; row < t.q.rows(); ++row) {
            const double of_left = left[row];
            const double of_right = right[row];
            right[row] = sine * of_left + cosine * of_right;
            left[row] = cosine * of_left - sine * of_right;
        }
    }
    d[first] -= moved;
    e[first] = g;
    e[last] = 0.0;
}

void diagonalize(Tridiagonal& t) {
    constexpr int max_steps = 100;  // a few are enough
    const std::size_t n = t.diagonal.size();
    double largest = 0.0;
    for (std::size_t i = 0; i < n; ++i)
        largest = std::max(largest, std::abs(t.diagonal[i]) + std::abs(t.beside[i]));
    const double negligible = std::numeric_limits<double>::epsilon() * largest;
    for (std::size_t first = 0; first < n; ++first) {
        for (int step = 0;; ++step) {
            std::size_t last = first;
            while (last + 1 < n && std::abs(t.beside[last]) > negligible)
                ++last;
            if (last == first) break;
            if (step == max_steps) throw Error("estimator: the eigenvalues of a filter are not found");
            do_step(t, first, last);
        }
    }
}

}  // namespace

Matrix transposed(const Matrix& a) {
    Matrix result(a.columns(), a.rows());
    for (std::size_t j = 0; j < a.columns(); ++j)
        for (std::size_t i = 0; i < a.rows(); ++i)
            result(j, i) = a(i, j);
    return result;
}

Matrix scaled_columns(Matrix a, std::span<const double> factors) {
    for (std::size_t j = 0; j < a.columns(); ++j)
        for (double& element : a.column(j))
            element *= factors[j];
    return a;
}

Matrix scaled_rows(Matrix a, std::span<const double> factors) {
    for (std::size_t j = 0; j < a.columns(); ++j)
        for (std::size_t i = 0; i < a.rows(); ++i)
            a(i, j) *= factors[i];
    return a;
}

double sum_of(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

double dot(std::span<const double> a, std::span<const double> b) {
    double sum = 0.0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i] * b[i];
    return sum;
}

Matrix product(const Matrix& a, const Matrix& b) {
    Matrix result(a.rows(), b.columns());
    for (std::size_t j = 0; j < b.columns(); ++j)
        add_columns(result.column(j), a, 0, 0, b.column(j));
    return result;
}

Matrix squared(const Matrix& a) {
    const Matrix rows = transposed(a);
    const std::size_t n = a.rows();
    Matrix result(n, n);
    for (std::size_t j = 0; j < n; ++j) {
        add_columns(result.column(j).subspan(j), a, j, 0, rows.column(j));
        for (std::size_t i = j + 1; i < n; ++i)
            result(j, i) = result(i, j);
    }
    return result;
}

std::vector<double> solved(Matrix a, std::vector<double> b) {
    const std::size_t n = b.size();
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t row = i + 1; row < n; ++row) {
            const double factor = a(row, i) / a(i, i);
            for (std::size_t k = i; k < n; ++k)
                a(row, k) -= factor * a(i, k);
            b[row] -= factor * b[i];
        }
    }
    for (std::size_t i = n; i-- > 0;) {
        for (std::size_t k = i + 1; k < n; ++k)
            b[i] -= a(i, k) * b[k];
        b[i] /= a(i, i);
    }
    return b;
}

Decomposition decompose(const Matrix& symmetric) {
    Tridiagonal t = tridiagonal(symmetric);
    diagonalize(t);
    const std::size_t n = t.diagonal.size();
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return t.diagonal[a] > t.diagonal[b]; });
    Decomposition result = {Matrix(n, n), std::vector<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        result.values[i] = t.diagonal[order[i]];
        const std::span<const double> from = t.q.column(order[i]);
        std::copy(from.begin(), from.end(), result.vectors.column(i).begin());
    }
    return result;
}

}  // namespace phy::detail
