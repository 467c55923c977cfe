// The likelihoods of two layers that are received together, with the operations of simd/ops-inl.h.
//
// The metric of a pair of points is |y - h_0 s_0 - h_1 s_1|^2 / N0. For a point s of one layer, its own, it
// is own_weight |s|^2 - Re(own conj(s)) + other_weight |t - (rest - ratio s)|^2 and a constant, with t the
// point of the other layer. The nearest t follows per axis. Points are odd integers here, so their distances
// to any number are found by folding. Gaussian interference is the same with t = 0, which
// folding by 0 finds, and with the weight that its power leaves.
//
// With priors, each bit of a point that is 1 adds its LLR to the metric: t is then searched for per axis.
#if defined(PHY_DETECTOR_DETECT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_DETECTOR_DETECT_INL_H_
#undef PHY_DETECTOR_DETECT_INL_H_
#else
#define PHY_DETECTOR_DETECT_INL_H_
#endif

#include <cstdint>

#include "phy/core/constellation.hpp"
#include "phy/simd/complex-inl.h"
#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

// Limits that keep all numbers finite. Likelihoods saturate long before.
constexpr float smallest_power = 0x1p-100F;
constexpr float smallest_share = 0x1p-60F;  ///< of the other layer's power: below, it is not there
constexpr float largest_power = 0x1p60F;
constexpr float largest_pair = 0x1p65F;  ///< of the sum of a pair's magnitudes, after scaling
constexpr float largest_position = 0x1p40F;
constexpr float largest_own = 0x1p90F;
constexpr float farthest = 0x1p100F;

/// Of the other layer's points: the square of half of their distance, over N0. Below, noise hides which of
/// them was sent, and the nearest one is a worse guess than all of them together.
constexpr float least_separation = 0.5F;
constexpr float always_points = -1.0F;

/// LayerPair, or vectors of it.
template <class Ops>
struct PairOf {
    ComplexOf<Ops> matched[2];
    typename Ops::V power[2];
    ComplexOf<Ops> cross;
};

/// One layer's likelihoods, see above.
template <class Ops>
struct OwnLayer {
    ComplexOf<Ops> own;
    typename Ops::V own_weight;
    ComplexOf<Ops> rest;
    ComplexOf<Ops> ratio;
    typename Ops::V other_weight;
    typename Ops::V fold;  ///< 1, or 0 if the other layer counts as Gaussian interference
};

/// A, the unit of the levels.
template <int m>
inline constexpr double unit = axis_unit(m == 1   ? Modulation::qpsk
                                         : m == 2 ? Modulation::qam16
                                         : m == 3 ? Modulation::qam64
                                         : m == 4 ? Modulation::qam256
                                                  : Modulation::qam1024);

template <class Ops>
PHY_INLINE ComplexOf<Ops> limited(ComplexOf<Ops> z, float limit) {
    return {Ops::clamp(z.re, Ops::set(limit)), Ops::clamp(z.im, Ops::set(limit))};
}

template <class Ops>
PHY_INLINE ComplexOf<Ops> scaled(ComplexOf<Ops> z, typename Ops::V factor) {
    return {Ops::mul(z.re, factor), Ops::mul(z.im, factor)};
}

/// Multiplies a number of a pair by the factor, and adds its magnitude to the sum.
template <class Ops>
PHY_INLINE void scale_and_add(typename Ops::V factor, typename Ops::V& number, typename Ops::V& sum) {
    number = Ops::mul(number, factor);
    sum = Ops::add(sum, Ops::abs(number));
}
template <class Ops>
PHY_INLINE void scale_and_add(typename Ops::V factor, ComplexOf<Ops>& number, typename Ops::V& sum) {
    scale_and_add<Ops>(factor, number.re, sum);
    scale_and_add<Ops>(factor, number.im, sum);
}

/// Scales powers above the largest one down. Returns what is positive if all numbers of the pair are finite.
template <class Ops>
PHY_INLINE typename Ops::V bring_into_range(PairOf<Ops>& pair) {
    const auto largest = Ops::max(Ops::max(pair.power[0], pair.power[1]), Ops::set(largest_power));
    const auto factor = Ops::div(Ops::set(largest_power), largest);
    auto sum = Ops::set(0.0F);
    scale_and_add<Ops>(factor, pair.matched[0], sum);
    scale_and_add<Ops>(factor, pair.matched[1], sum);
    scale_and_add<Ops>(factor, pair.power[0], sum);
    scale_and_add<Ops>(factor, pair.power[1], sum);
    scale_and_add<Ops>(factor, pair.cross, sum);
    return Ops::sub(Ops::set(largest_pair), sum);
}

/// The pair with its layers in reverse order.
template <class Ops>
PHY_INLINE PairOf<Ops> exchanged(const PairOf<Ops>& pair) {
    return {.matched = {pair.matched[1], pair.matched[0]},
            .power = {pair.power[1], pair.power[0]},
            .cross = {pair.cross.re, Ops::sub(Ops::set(0.0F), pair.cross.im)}};
}

/// The first layer of a pair. separation: see least_separation.
template <class Ops, int m>
PHY_INLINE OwnLayer<Ops> first_layer(const PairOf<Ops>& pair, float separation) {
    const auto other_power = Ops::max(pair.power[1], Ops::set(0.0F));
    const auto least_power =
        Ops::max(Ops::mul(Ops::set(smallest_share), pair.power[0]), Ops::set(smallest_power));
    const auto has_other = Ops::sub(other_power, least_power);
    const auto inverse = Ops::where_positive(has_other, Ops::div(Ops::set(1.0F), other_power));
    const ComplexOf<Ops> y = limited<Ops>(scaled<Ops>(pair.matched[1], inverse), largest_power);
    const ComplexOf<Ops> ratio = limited<Ops>(scaled<Ops>(pair.cross, inverse), largest_position);
    const auto difference =
        Ops::nfma(pair.cross.im, ratio.im, Ops::nfma(pair.cross.re, ratio.re, pair.power[0]));
    const auto weight = Ops::clamp(difference, Ops::set(largest_power));
    const ComplexOf<Ops> beside = times_conjugate<Ops>(y, pair.cross);
    const ComplexOf<Ops> own = {Ops::sub(pair.matched[0].re, beside.re),
                                Ops::sub(pair.matched[0].im, beside.im)};
    const auto as_points = Ops::mul(other_power, Ops::set(static_cast<float>(unit<m> * unit<m>)));
    const auto as_noise = Ops::div(as_points, Ops::add(Ops::set(1.0F), other_power));
    const auto is_clear = Ops::sub(as_points, Ops::set(separation));
    const auto fold = Ops::where_positive(is_clear, Ops::set(1.0F));
    return {
        .own = limited<Ops>(scaled<Ops>(own, Ops::set(static_cast<float>(2.0 * unit<m>))), largest_own),
        .own_weight = Ops::mul(weight, Ops::set(static_cast<float>(unit<m> * unit<m>))),
        .rest = limited<Ops>(scaled<Ops>(y, Ops::set(static_cast<float>(1.0 / unit<m>))), largest_position),
        .ratio = ratio,
        .other_weight = Ops::fma(fold, Ops::sub(as_points, as_noise), as_noise),
        .fold = fold};
}

/// The distance to the nearest level, or its negative; folds: 2^k times OwnLayer::fold.
template <class Ops, int m>
PHY_INLINE typename Ops::V distance_to_level(typename Ops::V x, const typename Ops::V* folds) {
    PHY_UNROLL_ALL
    for (int k = m - 1; k >= 0; --k)
        x = Ops::sub(Ops::abs(x), folds[k]);
    return x;
}

/// The part of the own layer in a metric, for the level of an axis.
template <class Ops>
PHY_INLINE typename Ops::V own_part(typename Ops::V weight, typename Ops::V own, typename Ops::V level) {
    return Ops::mul(level, Ops::fms(weight, level, own));
}

/// Bit i: bit k of the label of level i.
template <int m>
constexpr std::uint32_t labels_of_bit(int k) {
    std::uint32_t labels = 0;
    for (int i = 0; i < (1 << m); ++i)
        labels |= static_cast<std::uint32_t>(axis_label_bit(m, i, k)) << i;
    return labels;
}
template <int m>
struct Labels {
    std::uint32_t of_bit[m] = {};
    constexpr Labels() {
        for (int k = 0; k < m; ++k)
            of_bit[k] = labels_of_bit<m>(k);
    }
};

/// What the bits of a level add to a metric. priors: LLRs of a layer, those of its I axis or of its Q axis
/// and every second one from there on.
template <class Ops, int m>
PHY_INLINE typename Ops::V prior_cost(const typename Ops::V* priors, int level) {
    constexpr Labels<m> labels;
    auto cost = Ops::set(0.0F);
    PHY_UNROLL_ALL
    for (int k = 0; k < m; ++k)
        if ((labels.of_bit[k] >> level & 1U) != 0) cost = Ops::add(cost, priors[2 * k]);
    return cost;
}

constexpr int level_of(int index, int m) {
    return 2 * index - ((1 << m) - 1);
}

/// The other layer's part in metrics, without priors.
template <class Ops, int m>
struct NearestPoint {
    using V = typename Ops::V;
    V weight;
    V folds[m];

    PHY_INLINE explicit NearestPoint(const OwnLayer<Ops>& layer) : weight(layer.other_weight) {
        PHY_UNROLL_ALL
        for (int k = 0; k < m; ++k)
            folds[k] = Ops::mul(layer.fold, Ops::set(static_cast<float>(1 << k)));
    }

    /// Of the least metric, where the other layer's point should be.
    [[nodiscard]] PHY_INLINE V part(V re, V im) const {
        re = distance_to_level<Ops, m>(re, folds);
        im = distance_to_level<Ops, m>(im, folds);
        return Ops::fma(im, im, Ops::mul(re, re));
    }
    /// The metric with the own layer's part.
    [[nodiscard]] PHY_INLINE V metric(V part, V own) const { return Ops::fma(weight, part, own); }
    [[nodiscard]] PHY_INLINE V own_cost_i(int /*level*/, V own) const { return own; }
    [[nodiscard]] PHY_INLINE V own_cost_q(int /*level*/, V own) const { return own; }
    [[nodiscard]] PHY_INLINE V extrinsic(int /*bit*/, V llr) const { return llr; }
};

/// The same with priors: LLRs of the own layer's bits, then of the other one's.
template <class Ops, int m>
struct LikeliestPoint {
    using V = typename Ops::V;
    static constexpr int levels = 1 << m;
    V weight;
    V costs_re[levels];
    V costs_im[levels];
    const V* own;

    PHY_INLINE LikeliestPoint(const OwnLayer<Ops>& layer, const V* priors)
        : weight(layer.other_weight), own(priors) {
        const V* const other = priors + 2 * m;
        PHY_UNROLL_ALL
        for (int i = 0; i < levels; ++i) {
            const V square = Ops::set(static_cast<float>(level_of(i, m) * level_of(i, m)));
            costs_re[i] = Ops::fma(weight, square, prior_cost<Ops, m>(other, i));
            costs_im[i] = Ops::fma(weight, square, prior_cost<Ops, m>(other + 1, i));
        }
    }

    /// The least weight (x - t)^2 and cost over the levels t.
    [[nodiscard]] PHY_INLINE V least(V x, const V* costs) const {
        const V weighted = Ops::mul(weight, x);
        const V slope = Ops::add(weighted, weighted);
        V least = Ops::set(farthest);
        PHY_UNROLL_ALL
        for (int i = 0; i < levels; ++i)
            least = Ops::min(Ops::nfma(slope, Ops::set(static_cast<float>(level_of(i, m))), costs[i]), least);
        return Ops::fma(weighted, x, least);
    }

    [[nodiscard]] PHY_INLINE V part(V re, V im) const {
        return Ops::add(least(re, costs_re), least(im, costs_im));
    }
    [[nodiscard]] PHY_INLINE V metric(V part, V own_part) const { return Ops::add(part, own_part); }
    [[nodiscard]] PHY_INLINE V own_cost_i(int level, V part) const {
        return Ops::add(part, prior_cost<Ops, m>(own, level));
    }
    [[nodiscard]] PHY_INLINE V own_cost_q(int level, V part) const {
        return Ops::add(part, prior_cost<Ops, m>(own + 1, level));
    }
    [[nodiscard]] PHY_INLINE V extrinsic(int bit, V llr) const { return Ops::sub(llr, own[bit]); }
};

/// The least metric for each value of each bit of an axis.
template <class Ops, int m>
struct LeastMetrics {
    typename Ops::V zero[m];
    typename Ops::V one[m];

    PHY_INLINE LeastMetrics() {
        PHY_UNROLL_ALL
        for (int k = 0; k < m; ++k)
            zero[k] = one[k] = Ops::set(farthest);
    }

    PHY_INLINE void add(int level, typename Ops::V metric) {
        constexpr Labels<m> labels;
        PHY_UNROLL_ALL
        for (int k = 0; k < m; ++k) {
            if ((labels.of_bit[k] >> level & 1U) != 0) {
                one[k] = Ops::min(metric, one[k]);
            } else {
                zero[k] = Ops::min(metric, zero[k]);
            }
        }
    }

    [[nodiscard]] PHY_INLINE typename Ops::V llr(int k) const { return Ops::sub(one[k], zero[k]); }
};

/// The LLRs of the layer's bits in nats, those of I and Q in turn.
template <class Ops, int m, class OtherLayer>
PHY_INLINE void compute_llrs(const OwnLayer<Ops>& layer, const OtherLayer& other, typename Ops::V* llrs) {
    using V = typename Ops::V;
    constexpr int levels = 1 << m;
    const auto level = [](int i) { return Ops::set(static_cast<float>(level_of(i, m))); };
    V own_q[levels];
    V column[levels];
    PHY_UNROLL_ALL
    for (int q = 0; q < levels; ++q) {
        own_q[q] = other.own_cost_q(q, own_part<Ops>(layer.own_weight, layer.own.im, level(q)));
        column[q] = Ops::set(farthest);
    }
    LeastMetrics<Ops, m> of_i;
    PHY_NO_UNROLL
    for (int i = 0; i < levels; ++i) {
        const V own_i = other.own_cost_i(i, own_part<Ops>(layer.own_weight, layer.own.re, level(i)));
        const V first_re = Ops::nfma(layer.ratio.re, level(i), layer.rest.re);
        const V first_im = Ops::nfma(layer.ratio.im, level(i), layer.rest.im);
        V row = Ops::set(farthest);
        PHY_UNROLL_ALL
        for (int q = 0; q < levels; ++q) {
            const V part = other.part(Ops::fma(layer.ratio.im, level(q), first_re),
                                      Ops::nfma(layer.ratio.re, level(q), first_im));
            row = Ops::min(other.metric(part, own_q[q]), row);
            column[q] = Ops::min(other.metric(part, own_i), column[q]);
        }
        of_i.add(i, Ops::add(row, own_i));
    }
    LeastMetrics<Ops, m> of_q;
    PHY_UNROLL_ALL
    for (int q = 0; q < levels; ++q)
        of_q.add(q, Ops::add(column[q], own_q[q]));
    PHY_UNROLL_ALL
    for (int k = 0; k < m; ++k) {
        llrs[2 * k] = other.extrinsic(2 * k, of_i.llr(k));
        llrs[2 * k + 1] = other.extrinsic(2 * k + 1, of_q.llr(k));
    }
}

/// The LLRs of the first layer of a pair; 0 unless is_usable is positive. priors: those of its bits and then
/// of the second layer's, or null.
template <class Ops, int m, bool has_priors>
PHY_INLINE void detect(const PairOf<Ops>& pair, const typename Ops::V* priors, typename Ops::V is_usable,
                       typename Ops::V limit, typename Ops::V* llrs) {
    const OwnLayer<Ops> layer = first_layer<Ops, m>(pair, has_priors ? always_points : least_separation);
    if constexpr (has_priors)
        compute_llrs<Ops, m>(layer, LikeliestPoint<Ops, m>(layer, priors), llrs);
    else
        compute_llrs<Ops, m>(layer, NearestPoint<Ops, m>(layer), llrs);
    PHY_UNROLL_ALL
    for (int k = 0; k < 2 * m; ++k)
        llrs[k] = Ops::where_positive(is_usable, Ops::clamp(llrs[k], limit));
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
