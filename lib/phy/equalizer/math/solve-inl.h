// The separation of layers: the normal equations of a resource element and their solution, with the
// operations of simd/ops-inl.h in a fixed order.
//
// G = H^H H + N0 I (zero forcing: H^H H) is factored as L D L^H. With C = G^-1 and z = H^H y the symbols are
// C z, and N0 C_ii is the noise of layer i. Equations without a solution get a noise that is not finite,
// which then becomes an erasure.
#if defined(PHY_EQUALIZER_SOLVE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_EQUALIZER_SOLVE_INL_H_
#undef PHY_EQUALIZER_SOLVE_INL_H_
#else
#define PHY_EQUALIZER_SOLVE_INL_H_
#endif

#include <limits>

#include "phy/dmrs/slot_allocation.hpp"
#include "phy/simd/math-inl.h"
#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// A pivot below this share of its diagonal element is a rounding error.
constexpr float smallest_pivot = 0x1p-18F;

/// The same for mu, relative to 1.
constexpr float smallest_mu = 0x1p-20F;

/// Entries below the diagonal, row by row.
constexpr int entries_below(int layers) {
    return layers * (layers - 1) / 2;
}
constexpr int entry_below(int row, int column) {
    return entries_below(row) + column;
}

/// One complex number per layer.
template <class Ops, int layers>
struct Column {
    typename Ops::V re[layers];
    typename Ops::V im[layers];
};

/// A Hermitian matrix, or a triangular one.
template <class Ops, int layers>
struct Triangle {
    typename Ops::V diagonal[layers];
    typename Ops::V re[entries_below(layers) + 1];  // + 1: one layer has no entries
    typename Ops::V im[entries_below(layers) + 1];
};

template <class Ops, int layers>
PHY_INLINE Triangle<Ops, layers> zero_triangle() {
    constexpr int below = entries_below(layers) + 1;
    Triangle<Ops, layers> zero;
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i)
        zero.diagonal[i] = Ops::set(0.0F);
    PHY_UNROLL_ALL
    for (int e = 0; e < below; ++e)
        zero.re[e] = zero.im[e] = Ops::set(0.0F);
    return zero;
}

template <class Ops, int layers>
PHY_INLINE Column<Ops, layers> zero_column() {
    Column<Ops, layers> zero;
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i)
        zero.re[i] = zero.im[i] = Ops::set(0.0F);
    return zero;
}

template <class Ops, int layers>
PHY_INLINE Column<Ops, layers> conjugate(Column<Ops, layers> h) {
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i)
        h.im[i] = Ops::sub(Ops::set(0.0F), h.im[i]);
    return h;
}

/// Weighted sums of estimates over time.
template <class Ops, int layers>
PHY_INLINE void scale(typename Ops::V weight, Column<Ops, layers>& h) {
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i) {
        h.re[i] = Ops::mul(weight, h.re[i]);
        h.im[i] = Ops::mul(weight, h.im[i]);
    }
}
template <class Ops, int layers>
PHY_INLINE void add_estimate(typename Ops::V weight, const Column<Ops, layers>& estimate,
                             Column<Ops, layers>& h) {
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i) {
        h.re[i] = Ops::fma(weight, estimate.re[i], h.re[i]);
        h.im[i] = Ops::fma(weight, estimate.im[i], h.im[i]);
    }
}

/// Adds one antenna to H^H H; h is its row of H.
template <class Ops, int layers>
PHY_INLINE void add_to_gram(const Column<Ops, layers>& h, Triangle<Ops, layers>& gram) {
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i) {
        gram.diagonal[i] = Ops::fma(h.im[i], h.im[i], Ops::fma(h.re[i], h.re[i], gram.diagonal[i]));
        PHY_UNROLL_ALL
        for (int j = 0; j < i; ++j) {
            const int e = entry_below(i, j);
            gram.re[e] = Ops::fma(h.im[i], h.im[j], Ops::fma(h.re[i], h.re[j], gram.re[e]));
            gram.im[e] = Ops::nfma(h.im[i], h.re[j], Ops::fma(h.re[i], h.im[j], gram.im[e]));
        }
    }
}

/// Adds one antenna to H^H y.
template <class Ops, int layers>
PHY_INLINE void add_matched(const Column<Ops, layers>& h, typename Ops::V y_re, typename Ops::V y_im,
                            Column<Ops, layers>& z) {
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i) {
        z.re[i] = Ops::fma(h.im[i], y_im, Ops::fma(h.re[i], y_re, z.re[i]));
        z.im[i] = Ops::nfma(h.im[i], y_re, Ops::fma(h.re[i], y_im, z.im[i]));
    }
}

/// Adds weight x y.
template <class Ops>
PHY_INLINE void add_weighted(typename Ops::V w_re, typename Ops::V w_im, typename Ops::V y_re,
                             typename Ops::V y_im, typename Ops::V& re, typename Ops::V& im) {
    re = Ops::nfma(w_im, y_im, Ops::fma(w_re, y_re, re));
    im = Ops::fma(w_im, y_re, Ops::fma(w_re, y_im, im));
}
template <class Ops>
PHY_INLINE void add_scaled(typename Ops::V w, typename Ops::V y_re, typename Ops::V y_im, typename Ops::V& re,
                           typename Ops::V& im) {
    re = Ops::fma(w, y_re, re);
    im = Ops::fma(w, y_im, im);
}

/// Adds one antenna to the symbols; w are its weights.
template <class Ops, int layers>
PHY_INLINE void add_filtered(const Column<Ops, layers>& w, typename Ops::V y_re, typename Ops::V y_im,
                             Column<Ops, layers>& x) {
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i)
        add_weighted<Ops>(w.re[i], w.im[i], y_re, y_im, x.re[i], x.im[i]);
}

/// Turns G into D^-1 on the diagonal and I - L^-1 below it. A pivot that is not positive, or is lost in the
/// rounding of its column, makes the noise +infinity or NaN. The test is beside the chain of pivots and does
/// not delay it.
template <class Ops, int layers>
PHY_INLINE Triangle<Ops, layers> factor(const Triangle<Ops, layers>& gram, typename Ops::V& noise) {
    using V = typename Ops::V;
    Triangle<Ops, layers> lower;  // L below the diagonal
    Triangle<Ops, layers> inverse;
    V sound = Ops::set(1.0F);
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i) {
        V pivot = gram.diagonal[i];
        PHY_UNROLL_ALL
        for (int j = 0; j < i; ++j) {
            const int e = entry_below(i, j);
            V re = gram.re[e];  // of L D
            V im = gram.im[e];
            PHY_UNROLL_ALL
            for (int k = 0; k < j; ++k) {
                // minus (L D)_ik conj(L_jk); inverse holds (L D)_ik
                const int of_i = entry_below(i, k);
                const int of_j = entry_below(j, k);
                re = Ops::nfma(inverse.im[of_i], lower.im[of_j],
                               Ops::nfma(inverse.re[of_i], lower.re[of_j], re));
                im = Ops::nfma(inverse.im[of_i], lower.re[of_j],
                               Ops::fma(inverse.re[of_i], lower.im[of_j], im));
            }
            inverse.re[e] = re;  // L D, until L is known
            inverse.im[e] = im;
            lower.re[e] = Ops::mul(re, inverse.diagonal[j]);
            lower.im[e] = Ops::mul(im, inverse.diagonal[j]);
            pivot = Ops::nfma(im, lower.im[e], Ops::nfma(re, lower.re[e], pivot));
        }
        const V beyond_rounding = Ops::nfma(Ops::set(smallest_pivot), gram.diagonal[i], pivot);
        sound = Ops::where_positive(beyond_rounding, sound);
        inverse.diagonal[i] = reciprocal<Ops>(pivot);
    }
    constexpr float largest = std::numeric_limits<float>::max();
    const V lost = Ops::nfma(sound, Ops::set(largest), Ops::set(largest));  // 0, or the largest number
    noise = Ops::fma(lost, Ops::set(2.0F), noise);
    PHY_UNROLL_ALL
    for (int i = 1; i < layers; ++i) {
        PHY_UNROLL_ALL
        for (int j = i - 1; j >= 0; --j) {
            const int e = entry_below(i, j);
            V re = lower.re[e];
            V im = lower.im[e];
            PHY_UNROLL_ALL
            for (int k = j + 1; k < i; ++k) {
                const int left = entry_below(i, k);
                const int right = entry_below(k, j);
                re = Ops::fma(lower.im[left], inverse.im[right],
                              Ops::nfma(lower.re[left], inverse.re[right], re));
                im = Ops::nfma(lower.im[left], inverse.re[right],
                               Ops::nfma(lower.re[left], inverse.im[right], im));
            }
            inverse.re[e] = re;
            inverse.im[e] = im;
        }
    }
    return inverse;
}

/// C z, from the result of factor().
template <class Ops, int layers>
PHY_INLINE Column<Ops, layers> solve(const Triangle<Ops, layers>& inverse, const Column<Ops, layers>& z) {
    using V = typename Ops::V;
    Column<Ops, layers> x;
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i) {
        V re = z.re[i];
        V im = z.im[i];
        PHY_UNROLL_ALL
        for (int j = 0; j < i; ++j) {
            const int e = entry_below(i, j);
            re = Ops::fma(inverse.im[e], z.im[j], Ops::nfma(inverse.re[e], z.re[j], re));
            im = Ops::nfma(inverse.im[e], z.re[j], Ops::nfma(inverse.re[e], z.im[j], im));
        }
        x.re[i] = Ops::mul(re, inverse.diagonal[i]);
        x.im[i] = Ops::mul(im, inverse.diagonal[i]);
    }
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i) {
        PHY_UNROLL_ALL
        for (int j = i + 1; j < layers; ++j) {
            const int e = entry_below(j, i);
            x.re[i] = Ops::nfma(inverse.im[e], x.im[j], Ops::nfma(inverse.re[e], x.re[j], x.re[i]));
            x.im[i] = Ops::fma(inverse.im[e], x.re[j], Ops::nfma(inverse.re[e], x.im[j], x.im[i]));
        }
    }
    return x;
}

/// The factor that makes a layer's symbol unbiased, and its noise variance after that.
template <class Ops, int layers>
struct Outcome {
    typename Ops::V gain[layers];  ///< mmse only
    typename Ops::V noise[layers];
};

/// The output of an MMSE filter is mu x symbol + noise of variance mu (1 - mu), with mu = 1 - N0 C_ii. A mu
/// that is lost in the rounding of 1, as without a channel, becomes NaN.
template <class Ops, int layers, bool mmse>
PHY_INLINE Outcome<Ops, layers> outcome(const Triangle<Ops, layers>& inverse, typename Ops::V noise) {
    using V = typename Ops::V;
    Outcome<Ops, layers> result;
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i) {
        V c = inverse.diagonal[i];
        PHY_UNROLL_ALL
        for (int j = i + 1; j < layers; ++j) {
            const int e = entry_below(j, i);
            const V square = Ops::fma(inverse.im[e], inverse.im[e], Ops::mul(inverse.re[e], inverse.re[e]));
            c = Ops::fma(square, inverse.diagonal[j], c);
        }
        c = Ops::mul(noise, c);
        if constexpr (mmse) {
            const V mu = Ops::sub(Ops::set(1.0F), c);
            const V beyond_rounding = Ops::sub(mu, Ops::set(smallest_mu));
            result.gain[i] = reciprocal<Ops>(Ops::where_positive(beyond_rounding, mu));
            result.noise[i] = Ops::mul(c, result.gain[i]);
        } else {
            result.noise[i] = c;
        }
    }
    return result;
}

/// Separates the layers of resource elements with the same H: made from H^H H and N0, it turns H^H y into
/// unbiased symbols.
template <class Ops, int layers, bool mmse>
struct Separator {
    typename Ops::V noise[layers];  ///< of the symbols

    PHY_INLINE Separator(Triangle<Ops, layers> gram, typename Ops::V n0) {
        if constexpr (mmse) {
            PHY_UNROLL_ALL
            for (int i = 0; i < layers; ++i)
                gram.diagonal[i] = Ops::add(gram.diagonal[i], n0);
        }
        inverse_ = factor<Ops, layers>(gram, n0);
        const Outcome<Ops, layers> result = outcome<Ops, layers, mmse>(inverse_, n0);
        PHY_UNROLL_ALL
        for (int i = 0; i < layers; ++i) {
            noise[i] = result.noise[i];
            if constexpr (mmse) gain_[i] = result.gain[i];
        }
    }

    PHY_INLINE Column<Ops, layers> operator()(const Column<Ops, layers>& z) const {
        Column<Ops, layers> x = solve<Ops, layers>(inverse_, z);
        if constexpr (mmse) {
            PHY_UNROLL_ALL
            for (int i = 0; i < layers; ++i) {
                x.re[i] = Ops::mul(x.re[i], gain_[i]);
                x.im[i] = Ops::mul(x.im[i], gain_[i]);
            }
        }
        return x;
    }

private:
    Triangle<Ops, layers> inverse_;
    typename Ops::V gain_[layers];
};

/// One layer: both methods are maximum ratio combining.
template <class Ops, bool mmse>
struct Separator<Ops, 1, mmse> {
    typename Ops::V noise[1];

    PHY_INLINE Separator(const Triangle<Ops, 1>& gram, typename Ops::V n0) {
        const typename Ops::V power = gram.diagonal[0];
        gain_ = Ops::div(Ops::set(1.0F), Ops::keep(power, power));
        noise[0] = Ops::mul(n0, gain_);
    }

    PHY_INLINE Column<Ops, 1> operator()(const Column<Ops, 1>& z) const {
        return {{Ops::mul(z.re[0], gain_)}, {Ops::mul(z.im[0], gain_)}};
    }

private:
    typename Ops::V gain_;
};

/// Two layers, in closed form. With |h_i|^2, g = h_0^H h_1 and, for MMSE, G_j = |h_j|^2 + N0, unbiased
/// symbols are (G_j z_i - g z_j) / D_i with noise N0 G_j / D_i, where D_i = G_j |h_i|^2 - |g|^2.
template <class Ops, bool mmse>
struct Separator<Ops, 2, mmse> {
    typename Ops::V noise[2];

    PHY_INLINE Separator(const Triangle<Ops, 2>& gram, typename Ops::V n0) {
        using V = typename Ops::V;
        re_ = gram.re[0];
        im_ = gram.im[0];
        const V square = Ops::fma(im_, im_, Ops::mul(re_, re_));
        PHY_UNROLL_ALL
        for (int i = 0; i < 2; ++i) {
            const V power = gram.diagonal[i];
            const V of_other = gram.diagonal[1 - i];
            weight_[i] = mmse ? Ops::add(of_other, n0) : of_other;
            if (!mmse && i == 1) {
                gain_[1] = gain_[0];
            } else {
                const V product = Ops::mul(weight_[i], power);
                const V difference = Ops::sub(product, square);
                const V beyond_rounding = Ops::nfma(Ops::set(smallest_pivot), product, difference);
                gain_[i] = Ops::div(Ops::set(1.0F), Ops::where_positive(beyond_rounding, difference));
            }
            noise[i] = Ops::mul(Ops::mul(n0, weight_[i]), gain_[i]);
        }
    }

    PHY_INLINE Column<Ops, 2> operator()(const Column<Ops, 2>& z) const {
        // The entry of G below the diagonal is conj(g).
        const auto re0 = Ops::nfma(im_, z.im[1], Ops::nfma(re_, z.re[1], Ops::mul(weight_[0], z.re[0])));
        const auto im0 = Ops::fma(im_, z.re[1], Ops::nfma(re_, z.im[1], Ops::mul(weight_[0], z.im[0])));
        const auto re1 = Ops::fma(im_, z.im[0], Ops::nfma(re_, z.re[0], Ops::mul(weight_[1], z.re[1])));
        const auto im1 = Ops::nfma(im_, z.re[0], Ops::nfma(re_, z.im[0], Ops::mul(weight_[1], z.im[1])));
        return {{Ops::mul(re0, gain_[0]), Ops::mul(re1, gain_[1])},
                {Ops::mul(im0, gain_[0]), Ops::mul(im1, gain_[1])}};
    }

private:
    typename Ops::V re_;
    typename Ops::V im_;
    typename Ops::V weight_[2];
    typename Ops::V gain_[2];
};

/// Multiplies by the conjugate of an OFDM symbol's phase. Callers skip it if the phase is exactly 1.
template <class Ops>
PHY_INLINE void rotate_back(typename Ops::V phase_re, typename Ops::V phase_im, typename Ops::V& re,
                            typename Ops::V& im) {
    const auto rotated = Ops::fma(im, phase_im, Ops::mul(re, phase_re));
    im = Ops::nfma(re, phase_im, Ops::mul(im, phase_re));
    re = rotated;
}

/// LayerPair as four complex numbers.
template <class Ops>
struct PairNumbers {
    typename Ops::V re[4];
    typename Ops::V im[4];

    PHY_INLINE PairNumbers(const Column<Ops, 2>& matched, const Triangle<Ops, 2>& gram, typename Ops::V noise)
        : re{matched.re[0], matched.re[1], gram.diagonal[0], gram.re[0]},
          im{matched.im[0], matched.im[1], gram.diagonal[1], gram.im[0]} {
        const auto inverse = Ops::div(Ops::set(1.0F), noise);
        PHY_UNROLL_ALL
        for (int i = 0; i < 4; ++i) {
            re[i] = Ops::mul(re[i], inverse);
            im[i] = Ops::mul(im[i], inverse);
        }
    }

    PHY_INLINE void rotate_back(typename Ops::V phase_re, typename Ops::V phase_im) {
        PHY_UNROLL_ALL
        for (int i = 0; i < 2; ++i)
            PHY_TARGET::rotate_back<Ops>(phase_re, phase_im, re[i], im[i]);
    }

    /// A pair with a number that is not finite becomes 0.
    PHY_INLINE void erase_unless_finite() {
        auto sum = Ops::set(0.0F);
        PHY_UNROLL_ALL
        for (int i = 0; i < 4; ++i)
            sum = Ops::add(sum, Ops::add(Ops::abs(re[i]), Ops::abs(im[i])));
        PHY_UNROLL_ALL
        for (int i = 0; i < 4; ++i) {
            re[i] = Ops::keep(sum, re[i]);
            im[i] = Ops::keep(sum, im[i]);
        }
    }
};

/// The least noise variance of a symbol, so that none becomes 0 by rounding.
constexpr float least_noise = 0x1p-126F;

/// Sets the symbol to 0 and the noise variance to +infinity if anything is not finite, or the symbol is
/// beyond 2^63.
template <class Ops>
PHY_INLINE void erase_unless_finite(typename Ops::V& re, typename Ops::V& im, typename Ops::V& noise) {
    const auto all = Ops::fma(re, re, Ops::fma(im, im, noise));
    re = Ops::keep(all, re);
    im = Ops::keep(all, im);
    noise = Ops::select_finite(all, Ops::max(noise, Ops::set(least_noise)),
                               Ops::set(std::numeric_limits<float>::infinity()));
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
