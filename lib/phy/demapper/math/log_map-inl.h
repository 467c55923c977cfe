// Log-MAP LLRs of an axis, from as many exponentials as it has bits.
//
// A level's term is exp(-metric), here over that of the nearest level. Fold k maps the levels on the other
// side of bit k's boundary, x_k = 0, to those on the side of x: a level at the distance (2i + 1) q from the
// boundary has a mirror image, whose term is the level's own times exp(-scale |x_k|)^(2i + 1). So from the
// nearest level on, fold by fold, products give all terms, and none overflows. Of the terms along |x_{k-1}|,
// those below the boundary, where x_k > 0, belong to label 0 of bit k.
#if defined(PHY_DEMAPPER_LOG_MAP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_DEMAPPER_LOG_MAP_INL_H_
#undef PHY_DEMAPPER_LOG_MAP_INL_H_
#else
#define PHY_DEMAPPER_LOG_MAP_INL_H_
#endif

#include "phy/demapper/math/axis.hpp"
#include "phy/demapper/math/max_log-inl.h"
#include "phy/simd/math-inl.h"
#include "phy/simd/target-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// The nearest level's term, and a factor's least value: products with one factor per bit are normal numbers,
/// and so are quotients of a group's sum, since it has the nearest level or its mirror image.
inline constexpr float nearest_term = 0x1p104F;
inline constexpr float least_factor = 0x1p-45F;
inline constexpr float least_log_factor = -31.0F;
static_assert(max_axis_bits <= 5);

/// The least exp(-scale |x_k|) that powers are made of. Its cube is least_factor. At fold 0, where powers
/// from the third on are added to 1, its cube is no longer noticed, and the first 8 are normal numbers.
inline constexpr float least_base = 0x1p-15F;
inline constexpr float least_base_of_0 = 0x1p-8F;
inline constexpr int safe_powers_of_0 = 8;
inline constexpr float least_power_of_0 = 0x1p-104F;

/// In nats. Beyond, the terms of the group without the nearest level are lost in what least_factor adds.
inline constexpr float largest_near_llr = 24.0F;

template <class Ops, int count>
PHY_INLINE typename Ops::V sum_of(const typename Ops::V* terms) {
    if constexpr (count == 1) {
        return terms[0];
    } else {
        return Ops::add(sum_of<Ops, count / 2>(terms), sum_of<Ops, count - count / 2>(terms + count / 2));
    }
}

template <class Ops>
PHY_INLINE typename Ops::V factor_product(typename Ops::V a, typename Ops::V b) {
    return Ops::max(Ops::mul(a, b), Ops::set(least_factor));
}

/// exp(-scale |x_k|)^1, ^3 ... of each fold.
template <class Ops, int m>
struct MirrorFactors {
    static constexpr int half = 1 << (m - 1);
    typename Ops::V of[m][half];
    typename Ops::V squared[m];  ///< exp(-scale |x_k|)^2; not limited at fold 0

    template <int k>
    PHY_INLINE void make(typename Ops::V distance, typename Ops::V minus_scale) {
        of[k][0] = exp_negative<Ops>(Ops::mul(minus_scale, distance), least_log_factor);
        constexpr int count = half >> k;
        if constexpr (count > 1) {
            const auto base = Ops::max(of[k][0], Ops::set(k == 0 ? least_base_of_0 : least_base));
            const auto square = Ops::mul(base, base);
            squared[k] = k == 0 ? Ops::mul(of[k][0], of[k][0]) : square;
            of[k][1] = Ops::mul(square, base);
            PHY_UNROLL
            for (int i = 2; i < count; ++i)
                of[k][i] = next_power<k>(of[k][i - 1], square, i);
        }
    }

private:
    template <int k>
    static PHY_INLINE typename Ops::V next_power(typename Ops::V before, typename Ops::V square, int i) {
        if constexpr (k > 0) return factor_product<Ops>(before, square);
        const auto power = Ops::mul(before, square);
        if (half <= safe_powers_of_0 || i + 1 < safe_powers_of_0) return power;
        return Ops::max(power, Ops::set(least_power_of_0));
    }
};

/// What LLRs beyond largest_near_llr need: those of max-log, in nats, and the sum of the terms of the group
/// without the nearest level, over that of its own nearest level.
template <class Ops, int m>
struct FarLlrs {
    typename Ops::V max_log[m];
    typename Ops::V sum[m];

    /// Of that group, levels 2 q, 4 q and 6 q behind its nearest one count, with terms of
    /// exp(-scale |x_k|)^i step^(i (i + 1) / 2), and the one behind the other boundary of the group of the
    /// nearest level. Between both boundaries lies the fold of an earlier bit; the other level is
    /// (2^(m - k) + 1) q from there. So far away, further levels have less than 0.004 of the sum.
    template <int k>
    PHY_INLINE void sum_group(const MirrorFactors<Ops, m>& factors, typename Ops::V step) {
        const auto step2 = factor_product<Ops>(step, step);
        const auto step3 = factor_product<Ops>(step2, step);
        auto terms = Ops::fma(factors.of[k][0], step, Ops::set(1.0F));
        if constexpr (k + 2 <= m) {
            terms = Ops::fma(factors.squared[k], step3, terms);
            terms = Ops::fma(factors.of[k][1], factor_product<Ops>(step3, step3), terms);
        }
        if constexpr (k > 0) {
            constexpr int behind = 1 << (m - k - 1);
            auto other = factors.of[0][behind];
            PHY_UNROLL
            for (int j = 1; j < k; ++j)
                other = Ops::max(factors.of[j][behind], other);
            terms = Ops::add(terms, other);
        }
        sum[k] = Ops::mul(terms, Ops::set(nearest_term));
    }

    /// ln of the quotient of both groups' sums.
    PHY_INLINE typename Ops::V llr(int k, typename Ops::V zero, typename Ops::V one) const {
        const auto beyond_zero = Ops::sub(max_log[k], Ops::set(largest_near_llr));
        const auto beyond_one = Ops::sub(Ops::set(-largest_near_llr), max_log[k]);
        zero = Ops::add(zero, Ops::where_positive(beyond_one, sum[k]));
        one = Ops::add(one, Ops::where_positive(beyond_zero, sum[k]));
        const auto beyond = Ops::add(Ops::where_positive(beyond_zero, max_log[k]),
                                     Ops::where_positive(beyond_one, max_log[k]));
        return Ops::add(log_of_quotient<Ops>(zero, one), beyond);
    }
};

/// Adds the mirror images at fold k to the terms along |x_k|, which become those along |x_{k-1}|; and so on
/// to those along |x_0|.
template <class Ops, int m, int k>
PHY_INLINE void unfold(const typename Ops::V* x, const MirrorFactors<Ops, m>& factors,
                       typename Ops::V* terms) {
    if constexpr (k > 0) {
        constexpr int count = 1 << (m - 1 - k);
        typename Ops::V all[2 * count];
        PHY_UNROLL
        for (int i = 0; i < count; ++i) {
            const auto mirrored = Ops::mul(terms[i], factors.of[k][i]);
            all[count - 1 - i] = Ops::choose(x[k], terms[i], mirrored);
            all[count + i] = Ops::choose(x[k], mirrored, terms[i]);
        }
        PHY_UNROLL
        for (int i = 0; i < 2 * count; ++i)
            terms[i] = all[i];
        unfold<Ops, m, k - 1>(x, factors, terms);
    }
}

/// From the terms along |x_{k-1}| on: llr(k, sum of label 0, sum of label 1). Returns the sum of all terms.
template <class Ops, int m, int k, class Llr>
PHY_INLINE typename Ops::V fold_again(const Llr& llr, const typename Ops::V* terms) {
    constexpr int count = 1 << (m - 1 - k);
    const auto zero = sum_of<Ops, count>(terms);
    const auto one = sum_of<Ops, count>(terms + count);
    llr(k, zero, one);
    if constexpr (k + 1 < m) {
        typename Ops::V folded[count];
        PHY_UNROLL
        for (int i = 0; i < count; ++i)
            folded[i] = Ops::add(terms[count - 1 - i], terms[count + i]);
        fold_again<Ops, m, k + 1>(llr, folded);
    }
    return Ops::add(zero, one);
}

template <class Ops, int m, int k>
PHY_INLINE void make_factors(const typename Ops::V* x, typename Ops::V minus_scale,
                             MirrorFactors<Ops, m>& factors) {
    factors.template make<k>(Ops::abs(x[k]), minus_scale);
    if constexpr (k + 1 < m) make_factors<Ops, m, k + 1>(x, minus_scale, factors);
}

template <class Ops, int m, int k>
PHY_INLINE void sum_groups(const MirrorFactors<Ops, m>& factors, typename Ops::V step, FarLlrs<Ops, m>& far) {
    far.template sum_group<k>(factors, step);
    if constexpr (k + 1 < m) sum_groups<Ops, m, k + 1>(factors, step, far);
}

/// Calls llr(k, sum of label 0, sum of label 1) for each bit.
template <class Ops, int m, class Llr>
PHY_INLINE void visit_groups(const typename Ops::V* x, const MirrorFactors<Ops, m>& factors, const Llr& llr) {
    constexpr int half = 1 << (m - 1);
    typename Ops::V terms[half];
    terms[0] = Ops::set(nearest_term);
    unfold<Ops, m, m - 1>(x, factors, terms);
    // Horner's rule: each mirror image has its level's term times a power of exp(-scale |x_0|).
    auto far = terms[half - 1];
    PHY_UNROLL
    for (int i = half - 2; i >= 0; --i)
        far = Ops::fma(factors.squared[0], far, terms[i]);
    far = Ops::max(Ops::mul(factors.of[0][0], far), Ops::set(nearest_term * least_factor));
    PHY_UNROLL
    for (int i = 0; i < half; ++i)
        terms[i] = Ops::fma(factors.of[0][i], terms[i], terms[i]);
    // No mirror image is larger than its level's term, so this is at least half of the sum.
    const auto near = Ops::sub(fold_again<Ops, m, 1>(llr, terms), far);
    llr(0, Ops::choose(x[0], near, far), Ops::choose(x[0], far, near));
}

/// The log-MAP LLRs of an axis with value y (in symbols of unit mean power), in nats. scale and limit are
/// those of a gain of one nat per unit. Magnitudes above `largest` need be no more than that.
template <class Ops, int m>
PHY_INLINE void axis_log_map(typename Ops::V y, typename Ops::V scale, typename Ops::V limit, float largest,
                             typename Ops::V* llrs) {
    using A = Axis<m>;
    typename Ops::V x[m];
    x[0] = Ops::mul(y, Ops::set(A::p));
    x[1] = Ops::nfma(Ops::abs(y), Ops::set(A::p), Ops::set(A::fold(0)));
    PHY_UNROLL
    for (int k = 2; k < m; ++k)
        x[k] = Ops::sub(Ops::set(A::fold(k - 1)), Ops::abs(x[k - 1]));
    MirrorFactors<Ops, m> factors;
    const auto minus_scale = Ops::sub(Ops::set(0.0F), scale);
    make_factors<Ops, m, 0>(x, minus_scale, factors);
    if (largest <= largest_near_llr) {
        visit_groups<Ops, m>(x, factors, [&](int k, typename Ops::V zero, typename Ops::V one) {
            llrs[k] = log_of_quotient<Ops>(zero, one);
        });
        return;
    }
    FarLlrs<Ops, m> far;
    axis_distances<Ops, m, Formula::all_segments>(y, limit, far.max_log);
    PHY_UNROLL
    for (int k = 0; k < m; ++k)
        far.max_log[k] = Ops::mul(scale, far.max_log[k]);
    const auto step = Ops::mul(minus_scale, Ops::set(2.0F * A::q));
    sum_groups<Ops, m, 0>(factors, exp_negative<Ops>(step, least_log_factor), far);
    visit_groups<Ops, m>(x, factors, [&](int k, typename Ops::V zero, typename Ops::V one) {
        llrs[k] = far.llr(k, zero, one);
    });
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();

#endif
