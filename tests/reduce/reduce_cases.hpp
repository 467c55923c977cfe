#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <span>
#include <type_traits>
#include <vector>

#include "phy/reduce/reduce_built_in.hpp"
#include "support/fewer_cases.hpp"

/// Operators, batches and comparisons for tests of reductions, on the host and on devices.
namespace phy_test {

/// Every reduction compiled into the library, as a type list for GoogleTest.
template <class List>
struct TypesOf;
template <class... Ops>
struct TypesOf<phy::detail::TypeList<Ops...>> {
    using List = ::testing::Types<Ops...>;
};
using BuiltIn = TypesOf<phy::detail::BuiltInReductions>::List;

struct Batch {
    std::size_t rows;
    std::size_t length;
};

/// Primes, edges of lanes and blocks, rows of several units, no rows, and no elements.
inline std::vector<Batch> batches() {
    return {{1, 1},     {1, 2},     {1, 127},    {3, 128},     {3, 129},   {31, 127},  {257, 31},
            {13, 1009}, {1, 7919},  {4, 511},    {4, 512},     {5, 1024},  {2, 1152},  {3, 4095},
            {3, 4096},  {3, 4097},  {2, 8191},   {2, 8192},    {2, 12289}, {1, 40961}, {3, 65536},
            {2, 65537}, {2, 69633}, {1, 270337}, {1, 1048573}, {3000, 1},  {0, 0},     {4, 0}};
}

/// Compares the bits of a result.
template <class Result>
void expect_same_bytes(const std::vector<Result>& results, const std::vector<Result>& expected) {
    ASSERT_EQ(results.size(), expected.size());
    for (std::size_t row = 0; row < results.size(); ++row) {
        if (std::memcmp(&results[row], &expected[row], sizeof(Result)) == 0) continue;
        ADD_FAILURE() << "row " << row << " of " << results.size() << " is "
                      << ::testing::PrintToString(results[row]) << ", expected "
                      << ::testing::PrintToString(expected[row]);
        return;
    }
}

/// Numbers of all magnitudes and both signs. One in eight repeats the previous one, so that equals occur.
template <class T>
class RandomElements {
public:
    explicit RandomElements(std::uint64_t seed) : random_(seed) {}

    T operator()() {
        if (random_() % 8 != 0) last_ = next(last_);
        return last_;
    }

private:
    template <class R>
    std::complex<R> next(std::complex<R>) {
        const R re = next(R());
        return {re, next(R())};
    }
    template <class R>
    R next(R) {
        if constexpr (std::is_floating_point_v<R>) {
            const int exponent = static_cast<int>(random_() % 61) - 30;
            const double fraction = std::uniform_real_distribution<double>(-1.0, 1.0)(random_);
            return static_cast<R>(std::ldexp(fraction, exponent));
        } else {
            return static_cast<R>(random_());
        }
    }

    std::mt19937_64 random_;
    T last_ = T();
};

template <class T>
std::vector<T> random_elements(std::size_t count, std::uint64_t seed) {
    std::vector<T> elements(count);
    RandomElements<T> next(seed);
    std::generate(elements.begin(), elements.end(), next);
    return elements;
}

/// Values that are critical for sums and comparisons, depending on `row`: large beside small, all equal,
/// signs that cancel, infinities of one or both signs, zeros of both signs, a NaN (with payload and sign) at
/// a place that differs from row to row.
template <class T>
std::vector<T> awkward_elements(std::size_t rows, std::size_t length, std::uint64_t seed) {
    using Limits = std::numeric_limits<T>;
    std::vector<T> elements = random_elements<T>(rows * length, seed);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t i = 0; i < length; ++i) {
            T& element = elements[row * length + i];
            const bool odd = i % 2 != 0;
            switch (row % 8) {
                case 0:
                    element = i % 5 == 0 ? Limits::max() / T(8192) : T(1);
                    break;
                case 1:
                    element = T(3);
                    break;
                case 2:
                    element = odd ? Limits::lowest() : Limits::max();
                    break;
                case 3:
                    element = odd ? T(-0.0) : T(0);
                    break;
                case 4:
                    element = T(-0.0);
                    break;
                case 5:
                    element = i % 97 == row % 97 ? Limits::infinity() : element;
                    break;
                case 6:
                    element = i % 97 == row % 97 ? -Limits::infinity() : element;
                    break;
                case 7:
                    element = i % 97 == row % 97 ? (odd ? -1 : 1) * Limits::infinity() : element;
                    break;
            }
        }
    }
    return elements;
}

/// NaNs as other machines may produce them.
template <class T>
T odd_nan(std::size_t kind) {
    if constexpr (sizeof(T) == 4) {
        constexpr std::array<std::uint32_t, 3> bits = {0xFFC00000U, 0x7FC12345U, 0xFFFFFFFFU};
        return std::bit_cast<T>(bits[kind % bits.size()]);
    } else {
        constexpr std::array<std::uint64_t, 3> bits = {0xFFF8000000000000U, 0x7FF8000000012345U,
                                                       0xFFFFFFFFFFFFFFFFU};
        return std::bit_cast<T>(bits[kind % bits.size()]);
    }
}

/// One row for each of these places of a NaN.
template <class T>
std::vector<T> nan_at(const std::vector<std::size_t>& places, std::size_t length, std::uint64_t seed) {
    std::vector<T> elements = random_elements<T>(places.size() * length, seed);
    for (std::size_t row = 0; row < places.size(); ++row)
        elements[row * length + places[row]] = odd_nan<T>(row);
    return elements;
}

/// One row for each possible place of a NaN.
template <class T>
std::vector<T> nan_everywhere(std::size_t length, std::uint64_t seed) {
    std::vector<std::size_t> places(length);
    std::iota(places.begin(), places.end(), std::size_t{0});
    return nan_at<T>(places, length, seed);
}

/// The length of rows with three blocks and a part of one.
inline constexpr std::size_t length_of_blocks = 3 * 4096 + 77;

/// Edges of lanes' turns and of blocks in such a row, and its last element.
inline std::vector<std::size_t> places_at_edges() {
    std::vector<std::size_t> places = {0, 1};
    for (std::size_t edge = 128; edge + 1 < length_of_blocks; edge += 128) {
        for (const std::size_t place : {edge - 1, edge, edge + 1})
            places.push_back(place);
    }
    places.push_back(length_of_blocks - 1);
    return fewer_cases(places);
}

/// Awkward elements of any type, in both components; integers at the ends of their range.
template <class T>
std::vector<T> awkward_elements_of_any(std::size_t rows, std::size_t length, std::uint64_t seed) {
    if constexpr (std::is_floating_point_v<T>) {
        return awkward_elements<T>(rows, length, seed);
    } else if constexpr (phy::detail::is_complex<T>) {
        using Real = typename T::value_type;
        const auto re = awkward_elements<Real>(rows, length, seed);
        // Another kind than the real part of the same row.
        const auto im = awkward_elements<Real>(rows + 3, length, seed + 1);
        std::vector<T> elements(re.size());
        for (std::size_t i = 0; i < elements.size(); ++i)
            elements[i] = {re[i], im[3 * length + i]};
        return elements;
    } else {
        using Limits = std::numeric_limits<T>;
        std::vector<T> elements = random_elements<T>(rows * length, seed);
        for (std::size_t i = 0; i < elements.size(); ++i) {
            const std::size_t kind = i / length % 4;
            if (kind == 0) elements[i] = Limits::max();
            if (kind == 1) elements[i] = Limits::lowest();
            if (kind == 2) elements[i] = i % 2 == 0 ? Limits::max() : Limits::lowest();
        }
        return elements;
    }
}

}  // namespace phy_test
