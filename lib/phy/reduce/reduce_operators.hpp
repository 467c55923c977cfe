#pragma once

#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

/// Marks functions for host and device if nvcc compiles them; otherwise empty.
#ifdef __CUDACC__
#define PHY_HOST_DEVICE __host__ __device__
#else
#define PHY_HOST_DEVICE
#endif

/// The operators of reduce_rows(). You can write your own. An operator is a small object with
///
///     using Element = ...;  // of a row
///     using Node = ...;     // represents some elements of a row
///     using Result = ...;   // of a row
///     PHY_HOST_DEVICE Node identity() const;                         // represents no element
///     PHY_HOST_DEVICE Node of(Element element, std::uint64_t index) const;  // index in the row, from 0
///     PHY_HOST_DEVICE Node join(Node left, Node right) const;        // represents the elements of both
///     PHY_HOST_DEVICE Result finish(Node root, std::uint64_t length) const;
///
/// Apart from rounding, join must be associative and commutative. join(node, identity()) must be node. The
/// order of joins is that of row_tree, so every backend gives the same result if its arithmetic does: prevent
/// the compiler from fusing a * b + c (-ffp-contract=off on the host, --fmad=false for nvcc), and use no
/// fast-math flags. The functions must not throw. All three types are trivially copyable, and Node has a
/// default constructor. Device code must not call functions of std:: unless nvcc has
/// --expt-relaxed-constexpr.
///
/// For the operators below, Element T is any arithmetic type; sums and means also accept std::complex of a
/// floating-point type. A NaN result always has the bits of the positive quiet NaN without payload
/// (0x7FC00000 in binary32), in complex results per component.
namespace phy {

namespace detail {

/// Limits without functions of std::, which device code cannot call.
template <class T>
struct Limits {
    static constexpr bool has_infinity = std::numeric_limits<T>::has_infinity;
    static constexpr T lowest =
        has_infinity ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::lowest();
    static constexpr T highest =
        has_infinity ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();
    static constexpr T nan = std::numeric_limits<T>::quiet_NaN();
};

inline constexpr std::uint64_t no_index = UINT64_MAX;

template <class T>
PHY_HOST_DEVICE constexpr bool is_nan(T value) {
    if constexpr (std::is_floating_point_v<T>) return value != value;
    return false;
}

template <class T>
PHY_HOST_DEVICE constexpr T canonical(T value) {
    if constexpr (std::is_floating_point_v<T>) return is_nan(value) ? Limits<T>::nan : value;
    return value;
}

template <class T>
inline constexpr bool is_complex = false;
template <class R>
inline constexpr bool is_complex<std::complex<R>> = true;

/// std::complex for device code.
template <class R>
struct Components {
    R re;
    R im;
};

/// Addition of one type. The identity of a floating-point sum is -0, because +0 would turn a sum of -0 into
/// +0.
template <class Total>
struct Adding {
    static_assert(std::is_arithmetic_v<Total>, "a sum is an arithmetic type or std::complex of one");
    using Node = Total;

    PHY_HOST_DEVICE static constexpr Node zero() { return Total(0); }
    PHY_HOST_DEVICE static constexpr Node identity() {
        if constexpr (std::is_floating_point_v<Total>) return -Total(0);
        return Total(0);
    }
    template <class T>
    PHY_HOST_DEVICE static constexpr Node of(T element) {
        return static_cast<Total>(element);
    }
    PHY_HOST_DEVICE static constexpr Node join(Node left, Node right) {
        if constexpr (std::is_integral_v<Total>) {
            using Bits = std::make_unsigned_t<Total>;  // its overflow is defined
            return static_cast<Total>(static_cast<Bits>(static_cast<Bits>(left) + static_cast<Bits>(right)));
        } else {
            return left + right;
        }
    }
    template <class Result>
    PHY_HOST_DEVICE static constexpr Result over(Node node, Result divisor) {
        return canonical(static_cast<Result>(node) / divisor);
    }
    PHY_HOST_DEVICE static constexpr Total result(Node node) { return canonical(node); }
};

template <class R>
struct Adding<std::complex<R>> {
    using Node = Components<R>;
    using Part = Adding<R>;

    PHY_HOST_DEVICE static constexpr Node zero() { return {Part::zero(), Part::zero()}; }
    PHY_HOST_DEVICE static constexpr Node identity() { return {Part::identity(), Part::identity()}; }
    template <class T>
    PHY_HOST_DEVICE static constexpr Node of(std::complex<T> element) {
        const auto parts = __builtin_bit_cast(Components<T>, element);
        return {Part::of(parts.re), Part::of(parts.im)};
    }
    PHY_HOST_DEVICE static constexpr Node join(Node left, Node right) {
        return {Part::join(left.re, right.re), Part::join(left.im, right.im)};
    }
    PHY_HOST_DEVICE static constexpr std::complex<R> over(Node node, R divisor) {
        return result({node.re / divisor, node.im / divisor});
    }
    PHY_HOST_DEVICE static constexpr std::complex<R> result(Node node) {
        return __builtin_bit_cast(std::complex<R>, Node{Part::result(node.re), Part::result(node.im)});
    }
};

template <class T>
struct TotalsOf {
    using Sum = T;
    using Mean = T;
    using MeanResult = T;
    using Divisor = T;
};
template <class R>
struct TotalsOf<std::complex<R>> {
    using Sum = std::complex<R>;
    using Mean = Sum;
    using MeanResult = Sum;
    using Divisor = R;
};
template <std::integral T>
struct TotalsOf<T> {
    using Sum = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    using Mean = std::conditional_t<(sizeof(T) < 8), Sum, double>;
    using MeanResult = double;
    using Divisor = double;
};

}  // namespace detail

/// The sum, of type Total. Default Total: std::int64_t or std::uint64_t for integers, T for other types.
/// Integer sums beyond the range of Total wrap around. Sum<float, double> converts every element to double
/// first.
template <class T, class Total = typename detail::TotalsOf<T>::Sum>
struct Sum {
    using Element = T;
    using Adding = detail::Adding<Total>;
    using Node = typename Adding::Node;
    using Result = Total;

    PHY_HOST_DEVICE Node identity() const { return Adding::identity(); }
    PHY_HOST_DEVICE Node of(T element, std::uint64_t) const { return Adding::of(element); }
    PHY_HOST_DEVICE Node join(Node left, Node right) const { return Adding::join(left, right); }
    PHY_HOST_DEVICE Result finish(Node root, std::uint64_t length) const {
        return Adding::result(length == 0 ? Adding::zero() : root);
    }
};

/// The sum divided by the length of the row. Means of integers are doubles: integers of up to 32 bits are
/// summed exactly, those of 64 bits are summed as doubles. The mean of an empty row is NaN.
template <class T>
struct Mean {
    using Element = T;
    using Totals = detail::TotalsOf<T>;
    using Adding = detail::Adding<typename Totals::Mean>;
    using Node = typename Adding::Node;
    using Result = typename Totals::MeanResult;

    PHY_HOST_DEVICE Node identity() const { return Adding::identity(); }
    PHY_HOST_DEVICE Node of(T element, std::uint64_t) const { return Adding::of(element); }
    PHY_HOST_DEVICE Node join(Node left, Node right) const { return Adding::join(left, right); }
    PHY_HOST_DEVICE Result finish(Node root, std::uint64_t length) const {
        return Adding::over(root, static_cast<typename Totals::Divisor>(length));
    }
};

/// The largest element; NaN if any element is NaN. If both +0 and -0 are largest, the tree decides between
/// them, so every backend gives the same one. For an empty row: minus infinity, or the lowest number of T.
template <class T>
struct Maximum {
    static_assert(std::is_arithmetic_v<T>, "only numbers that have an order have a maximum");
    using Element = T;
    using Node = T;
    using Result = T;

    PHY_HOST_DEVICE Node identity() const { return detail::Limits<T>::lowest; }
    PHY_HOST_DEVICE Node of(T element, std::uint64_t) const { return element; }
    PHY_HOST_DEVICE Node join(Node left, Node right) const {
        return right > left || detail::is_nan(right) ? right : left;
    }
    PHY_HOST_DEVICE Result finish(Node root, std::uint64_t) const { return detail::canonical(root); }
};

/// The smallest element; otherwise as Maximum. For an empty row: infinity, or the highest number of T.
template <class T>
struct Minimum {
    static_assert(std::is_arithmetic_v<T>, "only numbers that have an order have a minimum");
    using Element = T;
    using Node = T;
    using Result = T;

    PHY_HOST_DEVICE Node identity() const { return detail::Limits<T>::highest; }
    PHY_HOST_DEVICE Node of(T element, std::uint64_t) const { return element; }
    PHY_HOST_DEVICE Node join(Node left, Node right) const {
        return right < left || detail::is_nan(right) ? right : left;
    }
    PHY_HOST_DEVICE Result finish(Node root, std::uint64_t) const { return detail::canonical(root); }
};

/// The smallest index in the row of a largest element. NaN counts as larger than every number; +0 and -0 are
/// equal. For an empty row: UINT64_MAX.
template <class T>
struct ArgMax {
    static_assert(std::is_arithmetic_v<T>, "only numbers that have an order have a maximum");
    struct Node {
        T value;
        std::uint64_t index;
    };
    using Element = T;
    using Result = std::uint64_t;

    PHY_HOST_DEVICE Node identity() const { return {detail::Limits<T>::lowest, detail::no_index}; }
    PHY_HOST_DEVICE Node of(T element, std::uint64_t index) const { return {element, index}; }
    PHY_HOST_DEVICE Node join(Node left, Node right) const {
        const bool left_is_nan = detail::is_nan(left.value);
        const bool right_is_nan = detail::is_nan(right.value);
        const bool above = right.value > left.value || (right_is_nan && !left_is_nan);
        const bool equal = right.value == left.value || (right_is_nan && left_is_nan);
        return above || (equal && right.index < left.index) ? right : left;
    }
    PHY_HOST_DEVICE Result finish(Node root, std::uint64_t) const { return root.index; }
};

}  // namespace phy
