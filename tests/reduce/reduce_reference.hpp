#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "phy/reduce/reduce_operators.hpp"

/// A reference of reductions, written from the text of phy/reduce/tree.hpp only.
namespace phy_test {

/// The tree as a recursion. of(i) is the node of element i.
template <class Node, class Of, class Join>
class ReferenceTree {
public:
    ReferenceTree(std::uint64_t length, Node identity, Of of, Join join)
        : length_(length), identity_(identity), of_(of), join_(join) {}

    Node root() const { return length_ == 0 ? identity_ : of_blocks(0, (length_ + 4095) / 4096); }

private:
    Node of_blocks(std::uint64_t first, std::uint64_t count) const {
        if (count == 1) return of_block(first * 4096, std::min<std::uint64_t>(length_, (first + 1) * 4096));
        const std::uint64_t left = std::bit_floor(count - 1);
        return join_(of_blocks(first, left), of_blocks(first + left, count - left));
    }
    Node of_block(std::uint64_t begin, std::uint64_t end) const {
        std::vector<Node> lanes(128, identity_);
        for (std::uint64_t i = begin; i < end; ++i)
            lanes[(i - begin) % 128] = join_(lanes[(i - begin) % 128], of_(i));
        return of_lanes(lanes, 0, 1);
    }
    Node of_lanes(const std::vector<Node>& lanes, std::size_t lane, std::size_t step) const {
        if (step == 128) return lanes[lane];
        return join_(of_lanes(lanes, lane, 2 * step), of_lanes(lanes, lane + step, 2 * step));
    }

    std::uint64_t length_;
    Node identity_;
    Of of_;
    Join join_;
};

template <class Node, class Of, class Join>
Node reference_root(std::uint64_t length, Node identity, Of of, Join join) {
    return ReferenceTree<Node, Of, Join>(length, identity, of, join).root();
}

inline float with_one_nan(float value) {
    return std::isnan(value) ? std::bit_cast<float>(0x7FC00000U) : value;
}
inline double with_one_nan(double value) {
    return std::isnan(value) ? std::bit_cast<double>(0x7FF8000000000000U) : value;
}

/// The sum of part(element) in the precision of Real, before NaNs are unified.
template <class Real, class T, class Part>
Real tree_sum(std::span<const T> row, Part part) {
    return reference_root<Real>(
        row.size(), Real(-0.0), [&](std::uint64_t i) { return static_cast<Real>(part(row[i])); },
        [](Real a, Real b) { return a + b; });
}

template <class T>
__int128 exact_sum(std::span<const T> row) {
    __int128 sum = 0;
    for (const T element : row)
        sum += element;
    return sum;
}

constexpr auto itself = [](auto value) { return value; };
constexpr auto real_part = [](auto value) { return value.real(); };
constexpr auto imaginary_part = [](auto value) { return value.imag(); };

/// Expected<Op>::of(row) is the result of a row.
template <class Op>
struct Expected;

template <class T, class Total>
struct Expected<phy::Sum<T, Total>> {
    static Total of(std::span<const T> row) {
        if constexpr (std::is_integral_v<Total>) {
            return static_cast<Total>(exact_sum(row));
        } else {
            return row.empty() ? Total(0) : with_one_nan(tree_sum<Total>(row, itself));
        }
    }
};

template <class T, class R>
struct Expected<phy::Sum<std::complex<T>, std::complex<R>>> {
    static std::complex<R> of(std::span<const std::complex<T>> row) {
        if (row.empty()) return {};
        return {with_one_nan(tree_sum<R>(row, real_part)), with_one_nan(tree_sum<R>(row, imaginary_part))};
    }
};

template <class T>
struct Expected<phy::Mean<T>> {
    static auto of(std::span<const T> row) {
        if constexpr (std::is_floating_point_v<T>) {
            return with_one_nan((row.empty() ? T(0) : tree_sum<T>(row, itself)) / static_cast<T>(row.size()));
        } else if constexpr (sizeof(T) == 8) {
            const double sum = row.empty() ? 0.0 : tree_sum<double>(row, itself);
            return with_one_nan(sum / static_cast<double>(row.size()));
        } else {
            const auto sum = static_cast<long long>(exact_sum(row));
            return with_one_nan(static_cast<double>(sum) / static_cast<double>(row.size()));
        }
    }
};

template <class R>
struct Expected<phy::Mean<std::complex<R>>> {
    static std::complex<R> of(std::span<const std::complex<R>> row) {
        const R length = static_cast<R>(row.size());
        return {with_one_nan(tree_sum<R>(row, real_part) / length),
                with_one_nan(tree_sum<R>(row, imaginary_part) / length)};
    }
};

/// The winner of two; first_wins(a, b) compares numbers. Between two NaNs either may win.
template <class T, class FirstWins>
T extreme(std::span<const T> row, T of_none, FirstWins first_wins) {
    const auto join = [&](T a, T b) {
        if constexpr (std::is_floating_point_v<T>) {
            if (std::isnan(a)) return a;
            if (std::isnan(b)) return b;
        }
        return first_wins(a, b) ? a : b;
    };
    const T root = reference_root<T>(
        row.size(), of_none, [&](std::uint64_t i) { return row[i]; }, join);
    if constexpr (std::is_floating_point_v<T>) return with_one_nan(root);
    return root;
}

template <class T>
struct Expected<phy::Maximum<T>> {
    static T of(std::span<const T> row) {
        using Limits = std::numeric_limits<T>;
        const T lowest = Limits::has_infinity ? static_cast<T>(-Limits::infinity()) : Limits::lowest();
        return extreme<T>(row, lowest, [](T a, T b) { return a >= b; });
    }
};

template <class T>
struct Expected<phy::Minimum<T>> {
    static T of(std::span<const T> row) {
        using Limits = std::numeric_limits<T>;
        const T highest = Limits::has_infinity ? Limits::infinity() : Limits::max();
        return extreme<T>(row, highest, [](T a, T b) { return a <= b; });
    }
};

template <class T>
struct Expected<phy::ArgMax<T>> {
    static std::uint64_t of(std::span<const T> row) {
        std::uint64_t best = UINT64_MAX;
        for (std::uint64_t i = 0; i < row.size(); ++i) {
            if (best == UINT64_MAX) best = i;
            if constexpr (std::is_floating_point_v<T>) {
                if (std::isnan(row[best])) break;
                if (std::isnan(row[i])) best = i;
            }
            if (row[i] > row[best]) best = i;
        }
        return best;
    }
};

/// Results of all rows.
template <class Op>
std::vector<typename Op::Result> expected_of(std::span<const typename Op::Element> in, std::size_t rows) {
    std::vector<typename Op::Result> results;
    const std::size_t length = rows == 0 ? 0 : in.size() / rows;
    for (std::size_t row = 0; row < rows; ++row)
        results.push_back(Expected<Op>::of(in.subspan(row * length, length)));
    return results;
}

}  // namespace phy_test
