#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "phy/reduce/average_matvec.hpp"

/// Batches to average and multiply, and a reference independent of the library.
namespace phy_test {

using phy::AverageShape;
using AveragedTypes = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;

inline constexpr std::uint64_t average_seed = 31415;

/// Sizes of 1, odd sizes, and edges of vectors, panels and tiles, and of lanes and blocks of the tree.
inline std::vector<AverageShape> average_shapes() {
    std::vector<AverageShape> shapes = {{1, 1, 1},   {1, 1, 4097}, {1, 5, 8193}, {2, 3, 12289},
                                        {1, 257, 1}, {300, 1, 1},  {40, 200, 3}, {3, 129, 500},
                                        {70, 65, 4}, {1, 64, 128}, {16, 16, 16}, {64, 64, 130},
                                        {5, 512, 7}, {65, 130, 2}, {129, 33, 1}};
    for (const std::size_t batches : {1U, 2U, 7U, 15U, 16U, 17U, 31U, 32U, 33U})
        for (const std::size_t length : {1U, 2U, 3U, 4U, 8U, 9U, 31U, 63U, 66U})
            shapes.push_back({batches, length, 1 + (batches * 7 + length * 13) % 140});
    return shapes;
}

inline std::string text_of(const AverageShape& shape) {
    return "N " + std::to_string(shape.batches) + ", L " + std::to_string(shape.length) + ", M " +
           std::to_string(shape.observations) + ", seed " + std::to_string(average_seed);
}

template <class T>
struct NumberOf {
    using Component = T;
    static constexpr std::size_t components = 1;
};
template <class R>
struct NumberOf<std::complex<R>> {
    using Component = R;
    static constexpr std::size_t components = 2;
};

/// Noise around an offset, so that sums do not vanish and signs differ.
template <class T>
std::vector<T> average_numbers(std::size_t count, std::uint64_t seed) {
    using R = typename NumberOf<T>::Component;
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal(0.2, 1.0);
    std::vector<R> components(count * NumberOf<T>::components);
    for (R& component : components)
        component = static_cast<R>(normal(random));
    std::vector<T> numbers(count);
    if (count > 0) std::memcpy(static_cast<void*>(numbers.data()), components.data(), count * sizeof(T));
    return numbers;
}

/// The same with some values that are critical for sums and products.
template <class T>
std::vector<T> awkward_numbers(std::size_t count, std::uint64_t seed, unsigned one_in) {
    using R = typename NumberOf<T>::Component;
    using Limits = std::numeric_limits<R>;
    std::vector<T> numbers = average_numbers<T>(count, seed);
    std::mt19937_64 random(seed + 1);
    const R special[] = {
        R(0),          -R(0),         Limits::infinity(),   -Limits::infinity(),  -Limits::quiet_NaN(),
        Limits::max(), Limits::min(), Limits::denorm_min(), -Limits::denorm_min()};
    std::vector<R> components(count * NumberOf<T>::components);
    std::memcpy(components.data(), numbers.data(), count * sizeof(T));
    for (R& component : components)
        if (random() % one_in == 0) component = special[random() % std::size(special)];
    std::memcpy(static_cast<void*>(numbers.data()), components.data(), count * sizeof(T));
    return numbers;
}

template <class T>
struct AverageCase {
    AverageShape shape;
    std::vector<T> in;
    std::vector<T> matrix;

    explicit AverageCase(const AverageShape& of)
        : shape(of),
          in(average_numbers<T>(of.batches * of.length * of.observations, average_seed)),
          matrix(average_numbers<T>(of.length * of.length, average_seed + 1)) {}
};

/// One NaN stands for all.
template <class R>
R one_nan(R x) {
    return x == x ? x : std::numeric_limits<R>::quiet_NaN();
}

/// The sum in the order of reduce/tree.hpp, by component; at(i) is a number.
template <class R, class At>
R tree_sum(std::size_t count, const At& at) {
    std::vector<R> roots;
    for (std::size_t begin = 0; begin < count; begin += 4096) {
        std::vector<R> lanes(128, -R(0));
        for (std::size_t i = begin; i < std::min(begin + 4096, count); ++i)
            lanes[i % 128] += at(i);
        for (std::size_t half = 64; half > 0; half /= 2)
            for (std::size_t v = 0; v < half; ++v)
                lanes[v] += lanes[v + half];
        roots.push_back(lanes[0]);
    }
    while (roots.size() > 1) {
        std::vector<R> joined;
        for (std::size_t i = 0; i < roots.size(); i += 2)
            joined.push_back(i + 1 < roots.size() ? roots[i] + roots[i + 1] : roots[i]);
        roots = joined;
    }
    return roots[0];
}

/// The outputs by the operations in the header, in that order.
template <class R>
std::vector<R> ordered_outputs(const AverageCase<R>& of) {
    const auto [batches, length, observations] = of.shape;
    std::vector<R> out(batches * length);
    for (std::size_t n = 0; n < batches; ++n) {
        std::vector<R> means(length);
        for (std::size_t k = 0; k < length; ++k) {
            const R* const row = &of.in[(n * length + k) * observations];
            means[k] = one_nan(tree_sum<R>(observations, [&](std::size_t i) { return row[i]; }) /
                               static_cast<R>(observations));
        }
        for (std::size_t l = 0; l < length; ++l) {
            R sum = 0;
            for (std::size_t k = 0; k < length; ++k)
                sum = std::fma(of.matrix[l * length + k], means[k], sum);
            out[n * length + l] = one_nan(sum + R(0));
        }
    }
    return out;
}

template <class R>
std::vector<std::complex<R>> ordered_outputs(const AverageCase<std::complex<R>>& of) {
    const auto [batches, length, observations] = of.shape;
    std::vector<std::complex<R>> out(batches * length);
    for (std::size_t n = 0; n < batches; ++n) {
        std::vector<R> re(length);
        std::vector<R> im(length);
        for (std::size_t k = 0; k < length; ++k) {
            const std::complex<R>* const row = &of.in[(n * length + k) * observations];
            const R count = static_cast<R>(observations);
            re[k] = one_nan(tree_sum<R>(observations, [&](std::size_t i) { return row[i].real(); }) / count);
            im[k] = one_nan(tree_sum<R>(observations, [&](std::size_t i) { return row[i].imag(); }) / count);
        }
        for (std::size_t l = 0; l < length; ++l) {
            R x = 0;
            R y = 0;
            for (std::size_t k = 0; k < length; ++k) {
                const std::complex<R> m = of.matrix[l * length + k];
                x = std::fma(m.real(), re[k], x);
                x = std::fma(-m.imag(), im[k], x);
                y = std::fma(m.real(), im[k], y);
                y = std::fma(m.imag(), re[k], y);
            }
            out[n * length + l] = {one_nan(x + R(0)), one_nan(y + R(0))};
        }
    }
    return out;
}

/// Compares bits.
template <class T>
void expect_same_bits(std::span<const T> results, std::span<const T> expected) {
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t i = 0; i < results.size(); ++i)
        ASSERT_EQ(std::memcmp(&results[i], &expected[i], sizeof(T)), 0)
            << "output " << i << " is " << ::testing::PrintToString(results[i]) << ", expected "
            << ::testing::PrintToString(expected[i]);
}

}  // namespace phy_test
