// Stores eight vectors transposed, for the first pass of a transform: element i of vector k goes to
// out[8 i + k].
#if defined(PHY_OFDM_TRANSPOSE_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_TRANSPOSE_INL_H_
#undef PHY_OFDM_TRANSPOSE_INL_H_
#else
#define PHY_OFDM_TRANSPOSE_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "phy/simd/ops-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

#ifdef HWY_TARGET_INCLUDE
constexpr hn::Repartition<double, decltype(d)> d_pairs;

/// Transposes each block of four lanes: element i of the four vectors becomes the block of y[i].
HWY_INLINE void transpose_blocks(Ops::V x0, Ops::V x1, Ops::V x2, Ops::V x3, Ops::V (&y)[4]) {
    const auto low01 = hn::BitCast(d_pairs, hn::InterleaveLower(d, x0, x1));
    const auto low23 = hn::BitCast(d_pairs, hn::InterleaveLower(d, x2, x3));
    const auto high01 = hn::BitCast(d_pairs, hn::InterleaveUpper(d, x0, x1));
    const auto high23 = hn::BitCast(d_pairs, hn::InterleaveUpper(d, x2, x3));
    y[0] = hn::BitCast(d, hn::InterleaveLower(d_pairs, low01, low23));
    y[1] = hn::BitCast(d, hn::InterleaveUpper(d_pairs, low01, low23));
    y[2] = hn::BitCast(d, hn::InterleaveLower(d_pairs, high01, high23));
    y[3] = hn::BitCast(d, hn::InterleaveUpper(d_pairs, high01, high23));
}

#if HWY_TARGET == HWY_AVX3
HWY_INLINE void store_transposed(const Ops::V (&x)[8], float* out) {
    // Pairs of neighbouring vectors; then pairs of pairs, and pairs of those, by halves of a vector.
    const __m512i low_pairs = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
    const __m512i high_pairs = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
    const __m512i low_blocks = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i high_blocks = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (int half = 0; half < 2; ++half) {
        __m512d pairs[4];
        for (int k = 0; k < 4; ++k)
            pairs[k] = _mm512_castps_pd(half == 0 ? _mm512_unpacklo_ps(x[2 * k].raw, x[2 * k + 1].raw)
                                                  : _mm512_unpackhi_ps(x[2 * k].raw, x[2 * k + 1].raw));
        for (int part = 0; part < 2; ++part) {
            const __m512i by = part == 0 ? low_pairs : high_pairs;
            const __m512d a = _mm512_permutex2var_pd(pairs[0], by, pairs[1]);
            const __m512d b = _mm512_permutex2var_pd(pairs[2], by, pairs[3]);
            float* const to = out + 16 * half + 64 * part;
            _mm512_storeu_ps(to, _mm512_castpd_ps(_mm512_permutex2var_pd(a, low_blocks, b)));
            _mm512_storeu_ps(to + 32, _mm512_castpd_ps(_mm512_permutex2var_pd(a, high_blocks, b)));
        }
    }
}
#else
HWY_INLINE void store_transposed(const Ops::V (&x)[8], float* out) {
    Ops::V a[4];
    Ops::V b[4];
    transpose_blocks(x[0], x[1], x[2], x[3], a);
    transpose_blocks(x[4], x[5], x[6], x[7], b);
    for (std::size_t i = 0; i < 4; ++i) {
#if HWY_TARGET == HWY_AVX2
        hn::StoreU(hn::ConcatLowerLower(d, b[i], a[i]), d, out + 8 * i);
        hn::StoreU(hn::ConcatUpperUpper(d, b[i], a[i]), d, out + 8 * (i + 4));
#else
        hn::StoreU(a[i], d, out + 8 * i);
        hn::StoreU(b[i], d, out + 8 * i + 4);
#endif
    }
}
#endif
#else
inline void store_transposed(const float (&x)[8], float* out) {
    std::memcpy(out, x, sizeof x);
}
#endif

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
