// The passes of a transform whose stride is a multiple of the number of lanes, so that vectors hold
// neighbours throughout.
#if defined(PHY_OFDM_PASSES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_PASSES_INL_H_
#undef PHY_OFDM_PASSES_INL_H_
#else
#define PHY_OFDM_PASSES_INL_H_
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/ofdm/math/butterfly-inl.h"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

PHY_INLINE Complex<Ops> load(const Planes& from, std::size_t at) {
    return {Lanes::load(from.re + at), Lanes::load(from.im + at)};
}

PHY_INLINE void store(const Complex<Ops>& numbers, const Planes& to, std::size_t at) {
    Lanes::store(numbers.re, to.re + at);
    Lanes::store(numbers.im, to.im + at);
}

PHY_INLINE Complex<Ops> all_lanes(const float* pair) {
    return {Ops::set(pair[0]), Ops::set(pair[1])};
}

/// Complex numbers stored as pairs, at any address.
PHY_INLINE Complex<Ops> load_pairs(const void* from) {
    Complex<Ops> numbers;
    Lanes::load_pairs(static_cast<const float*>(from), numbers.re, numbers.im);
    return numbers;
}

PHY_INLINE void store_pairs(const Complex<Ops>& numbers, float* to) {
    Lanes::store_pairs(numbers.re, numbers.im, to);
}

/// Inputs of a butterfly, `step` apart.
template <int radix>
PHY_INLINE void load_points(const Planes& in, std::size_t at, std::size_t step, Complex<Ops> (&x)[radix]) {
    PHY_UNROLL
    for (int k = 0; k < radix; ++k)
        x[k] = load(in, at + static_cast<std::size_t>(k) * step);
}

template <int radix>
PHY_INLINE void store_points(const Complex<Ops> (&x)[radix], const Planes& out, std::size_t at,
                             std::size_t step) {
    PHY_UNROLL
    for (int k = 0; k < radix; ++k)
        store(x[k], out, at + static_cast<std::size_t>(k) * step);
}

template <int radix>
PHY_INLINE void multiply_points(const float* factors, Complex<Ops> (&x)[radix]) {
    PHY_UNROLL
    for (int k = 1; k < radix; ++k)
        x[k] = product<Ops>(x[k], all_lanes(factors + 2 * (k - 1)));
}

/// stride: that of the pass times the number of transforms side by side.
template <int radix>
void run_pass(const FftPass& pass, std::size_t stride, const float* table, const Planes& in,
              const Planes& out) {
    const std::size_t step = stride * pass.groups;
    for (std::size_t p = 0; p < pass.groups; ++p) {
        const float* const factors = table + pass.factors + 2 * (radix - 1) * p;
        for (std::size_t q = 0; q < stride; q += Lanes::count) {
            Complex<Ops> x[radix];
            load_points(in, q + stride * p, step, x);
            dft<Ops>(x);
            multiply_points(factors, x);
            store_points(x, out, q + stride * radix * p, stride);
        }
    }
}

/// Where the last pass writes: to planes in order, or to elements. first: bin of x[0]; step: bins from x[i]
/// to x[i + 1].
struct ToPlanes {
    Planes out;

    template <int radix>
    PHY_INLINE void operator()(const Complex<Ops> (&x)[radix], std::size_t first, std::size_t step) const {
        store_points(x, out, first, step);
    }
};

/// True if all numbers are finite. May be false for finite numbers that are too large to be added.
template <int count>
PHY_INLINE bool surely_finite(const Complex<Ops> (&numbers)[count]) {
    Complex<Ops> total = numbers[0];
    PHY_UNROLL
    for (int k = 1; k < count; ++k)
        total = sum<Ops>(total, numbers[k]);
    const auto size = Ops::abs(Ops::add(total.re, total.im));
    return Lanes::all(Lanes::less(size, Ops::set(std::numeric_limits<float>::infinity())));
}

class ToElements {
public:
    ToElements(const Elements& elements, std::size_t size)
        : elements_(elements), size_(size), factor_(all_lanes(elements.factor)) {}

    template <int radix>
    PHY_INLINE void operator()(Complex<Ops> (&x)[radix], std::size_t first, std::size_t step) const {
        PHY_UNROLL
        for (int k = 0; k < radix; ++k)
            x[k] = product<Ops>(x[k], factor_);
        if (!surely_finite(x)) {
            for (int k = 0; k < radix; ++k)
                x[k] = with_one_nan<Ops>(x[k]);
        }
        PHY_UNROLL
        for (int k = 0; k < radix; ++k)
            store_bins(x[k], first + static_cast<std::size_t>(k) * step);
    }

private:
    PHY_INLINE void store_bins(const Complex<Ops>& bins, std::size_t first) const {
        std::size_t element = first + elements_.zero;
        if (element >= size_) element -= size_;
        if (element + Lanes::count <= elements_.count)
            store_pairs(bins, elements_.out + 2 * element);
        else if (element < elements_.count || element + Lanes::count > size_)
            store_some(bins, element);
    }

    void store_some(const Complex<Ops>& bins, std::size_t first) const {
        alignas(64) float pairs[2 * Lanes::count];
        store_pairs(bins, pairs);
        for (std::size_t i = 0; i < Lanes::count; ++i) {
            const std::size_t element = first + i < size_ ? first + i : first + i - size_;
            if (element < elements_.count)
                std::memcpy(elements_.out + 2 * element, pairs + 2 * i, 2 * sizeof(float));
        }
    }

    Elements elements_;
    std::size_t size_;
    Complex<Ops> factor_;
};

template <int radix, class Store>
PHY_INLINE void run_last_pass(std::size_t stride, const Planes& in, const Store& store_bins) {
    for (std::size_t q = 0; q < stride; q += Lanes::count) {
        Complex<Ops> x[radix];
        load_points(in, q, stride, x);
        dft<Ops>(x);
        store_bins(x, q, stride);
    }
}

/// Calls visit with the radix of a pass as a constant.
template <class Visitor>
PHY_INLINE void with_radix(std::uint32_t radix, const Visitor& visit) {
    if (radix == 8)
        visit.template run<8>();
    else if (radix == 4)
        visit.template run<4>();
    else if (radix == 3)
        visit.template run<3>();
    else
        visit.template run<5>();
}

struct RunPass {
    const FftPass& pass;
    std::size_t stride;
    const float* table;
    const Planes& in;
    const Planes& out;

    template <int radix>
    PHY_INLINE void run() const {
        run_pass<radix>(pass, stride, table, in, out);
    }
};

template <class Store>
struct RunLastPass {
    std::size_t stride;
    const Planes& in;
    const Store& store_bins;

    template <int radix>
    PHY_INLINE void run() const {
        run_last_pass<radix>(stride, in, store_bins);
    }
};

/// Runs the passes from `first` on except the last, for all transforms side by side. in: index of the plane
/// with the inputs. Returns that of the outputs.
inline std::size_t run_passes(const Fft& fft, std::size_t first, std::size_t side_by_side,
                              const TwoPlanes& work, std::size_t in) {
    for (std::size_t i = first; i + 1 < fft.passes; ++i, in = 1 - in) {
        const FftPass& pass = fft.pass[i];
        with_radix(pass.radix, RunPass{pass, pass.stride * side_by_side, fft.table, work[in], work[1 - in]});
    }
    return in;
}

template <class Store>
void finish(const Fft& fft, std::size_t side_by_side, const Planes& in, const Store& store_bins) {
    const FftPass& last = fft.pass[fft.passes - 1];
    with_radix(last.radix, RunLastPass<Store>{last.stride * side_by_side, in, store_bins});
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
