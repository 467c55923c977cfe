// How an output of average_matvec() adds a product. R: float, double, or a vector of them.
#if defined(PHY_REDUCE_AVERAGE_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_REDUCE_AVERAGE_MATH_INL_H_
#undef PHY_REDUCE_AVERAGE_MATH_INL_H_
#else
#define PHY_REDUCE_AVERAGE_MATH_INL_H_
#endif

#include <cmath>

#include "phy/simd/target-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

// a * b + c with one rounding.
#if defined(__CUDACC__)
PHY_INLINE float fused(float a, float b, float c) {
    return __fmaf_rn(a, b, c);
}
PHY_INLINE double fused(double a, double b, double c) {
    return __fma_rn(a, b, c);
}
template <class R>
PHY_INLINE R negated(R a) {
    return -a;
}
#elif defined(HWY_TARGET_INCLUDE)
template <class R>
PHY_INLINE R fused(R a, R b, R c) {
    return hwy::HWY_NAMESPACE::MulAdd(a, b, c);
}
template <class R>
PHY_INLINE R negated(R a) {
    return hwy::HWY_NAMESPACE::Neg(a);
}
#else
template <class R>
PHY_INLINE R fused(R a, R b, R c) {
    return std::fma(a, b, c);
}
template <class R>
PHY_INLINE R negated(R a) {
    return -a;
}
#endif

template <class R>
struct RealSum {
    R value;

    PHY_INLINE void add(R m, R v) { value = fused(m, v, value); }
};

template <class R>
struct ComplexSum {
    R re;
    R im;

    PHY_INLINE void add(R m_re, R m_im, R v_re, R v_im) {
        re = fused(m_re, v_re, re);
        re = fused(negated(m_im), v_im, re);
        im = fused(m_re, v_im, im);
        im = fused(m_im, v_re, im);
    }
};

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
