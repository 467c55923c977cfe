#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "reduce/reduce_cases.hpp"
#include "reduce/reduce_reference.hpp"
#include "reduce/reduce_user_operators.hpp"

/// Extreme batches: very many rows of one element, and one very long row.
namespace phy_test {

using OperatorsOfLargeBatches = ::testing::Types<phy::Sum<std::int32_t>, phy::Sum<std::int64_t>,
                                                 phy::Sum<double>, phy::Sum<std::complex<float>>, Nearest>;

constexpr std::size_t many_rows = std::size_t{1} << 20;

/// A repeated sequence whose length has no common factor with the tree. The element that Nearest searches for
/// is near the end.
template <class Op>
std::vector<typename Op::Element> long_row(std::size_t length, std::uint64_t seed) {
    using Element = typename Op::Element;
    const auto some = random_elements<Element>(std::min<std::size_t>(length, 1'000'003), seed);
    std::vector<Element> elements;
    elements.reserve(length);
    while (elements.size() < length) {
        const std::size_t count = std::min(some.size(), length - elements.size());
        elements.insert(elements.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(count));
    }
    if constexpr (std::is_same_v<Op, Nearest>) elements[length - length / 9] = Nearest().to;
    return elements;
}

/// Without the operators' functions, including those of users.
template <class Op>
std::vector<typename Op::Result> expected_of_large(std::span<const typename Op::Element> in,
                                                   std::size_t rows) {
    if constexpr (std::is_same_v<Op, Nearest>) {
        std::vector<std::uint64_t> results;
        const std::size_t length = in.size() / rows;
        for (std::size_t row = 0; row < rows; ++row) {
            const auto begin = in.begin() + static_cast<std::ptrdiff_t>(row * length);
            const auto nearer = [](float a, float b) { return std::abs(a) < std::abs(b); };
            const auto end = begin + static_cast<std::ptrdiff_t>(length);
            results.push_back(static_cast<std::uint64_t>(std::min_element(begin, end, nearer) - begin));
        }
        return results;
    } else {
        return expected_of<Op>(in, rows);
    }
}

}  // namespace phy_test
