// Passes of transforms side by side, whose vectors hold the same points of neighbouring transforms.
#if defined(PHY_OFDM_PASSES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_OFDM_PASSES_INL_H_
#undef PHY_OFDM_PASSES_INL_H_
#else
#define PHY_OFDM_PASSES_INL_H_
#endif

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>

#include "phy/ofdm/host/fft_kernels.hpp"
#include "phy/ofdm/math/butterfly-inl.h"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {

/// Later passes do so many points at a time, which stay in the nearest cache.
constexpr std::size_t points_of_block = 2048;

/// Padding between rows: a distance of a power of 2 would put a column into few sets of the cache.
constexpr std::size_t row_padding = 16;

/// Rows of `width` numbers, `step` apart: both whole vectors.
struct Rows {
    float* vectors;
    std::size_t step;
    std::size_t width;

    [[nodiscard]] PHY_INLINE float* at(std::size_t row) const { return vectors + 2 * row * step; }
};

PHY_INLINE Complex<Ops> load(const float* vectors) {
    return {Lanes::load(vectors), Lanes::load(vectors + Lanes::count)};
}

PHY_INLINE void store(const Complex<Ops>& numbers, float* vectors) {
    Lanes::store(numbers.re, vectors);
    Lanes::store(numbers.im, vectors + Lanes::count);
}

PHY_INLINE Complex<Ops> all_lanes(const float* pair) {
    return {Ops::set(pair[0]), Ops::set(pair[1])};
}

/// Complex numbers stored as pairs, at any address.
PHY_INLINE Complex<Ops> load_pairs(const float* from) {
    Complex<Ops> numbers;
    Lanes::load_pairs(from, numbers.re, numbers.im);
    return numbers;
}

PHY_INLINE void store_pairs(const Complex<Ops>& numbers, float* to) {
    Lanes::store_pairs(numbers.re, numbers.im, to);
}

/// Hides how an address came about: compilers would otherwise keep one for each input and output of a
/// butterfly, more than there are registers.
PHY_INLINE const float* opaque(const float* address) {
    asm("" : "+r"(address));
    return address;
}

PHY_INLINE float* opaque(float* address) {
    asm("" : "+r"(address));
    return address;
}

/// The DFT of load_point(0), load_point(1), ... Eight points are loaded in two halves, because 16 registers
/// do not hold all.
template <int radix, class Load>
PHY_INLINE void dft_of(const Load& load_point, Complex<Ops> (&x)[radix]) {
    if constexpr (radix == 8) {
        for (const std::size_t first : {0U, 1U}) {
            for (std::size_t k = first; k < 8; k += 2)
                x[k] = load_point(k);
            dft<Ops>(x[first], x[first + 2], x[first + 4], x[first + 6]);
        }
        join<Ops>(x);
    } else {
        PHY_UNROLL_ALL
        for (int k = 0; k < radix; ++k)
            x[k] = load_point(static_cast<std::size_t>(k));
        dft<Ops>(x);
    }
}

/// Vectors `apart` numbers of binary32 from each other.
struct LoadVectors {
    const float* in;
    std::size_t apart;
    LoadVectors(const float* first, std::size_t distance) : in(opaque(first)), apart(distance) {}
    PHY_INLINE Complex<Ops> operator()(std::size_t k) const { return load(in + k * apart); }
};

/// Stores outputs of a butterfly times their factors.
template <int radix>
PHY_INLINE void store_products(const Complex<Ops> (&x)[radix], const float* factors, float* out,
                               std::size_t apart) {
    out = opaque(out);
    store(x[0], out);
    PHY_UNROLL_ALL
    for (int k = 1; k < radix; ++k)
        store(product<Ops>(x[k], all_lanes(factors + 2 * (k - 1))),
              out + static_cast<std::size_t>(k) * apart);
}

/// Some neighbouring groups of a pass. stride: in rows.
struct Groups {
    std::size_t count;
    std::size_t stride;
    const float* factors;
};

template <int radix>
void run_pass(Groups groups, Rows in, Rows out) {
    const std::size_t in_apart = 2 * groups.stride * groups.count * in.step;
    const std::size_t out_apart = 2 * groups.stride * out.step;
    for (std::size_t p = 0; p < groups.count; ++p) {
        const float* const factors = groups.factors + 2 * (radix - 1) * p;
        for (std::size_t q = 0; q < groups.stride; ++q) {
            const float* const from = in.at(q + groups.stride * p);
            float* const to = out.at(q + groups.stride * radix * p);
            for (std::size_t lane = 0; lane < 2 * in.width; lane += 2 * Lanes::count) {
                Complex<Ops> x[radix];
                dft_of(LoadVectors(from + lane, in_apart), x);
                store_products(x, factors, to + lane, out_apart);
            }
        }
    }
}

/// Some columns of the last pass: transforms side by side, whose bins lie step() apart.
struct LastPass {
    std::size_t stride;
    Rows in;
    std::size_t first;        ///< bin of the first number
    std::size_t bins_of_row;  ///< bins from a row to the next

    [[nodiscard]] std::size_t step() const { return stride * bins_of_row; }

    template <int radix>
    PHY_INLINE void transform(std::size_t row, std::size_t lane, Complex<Ops> (&x)[radix]) const {
        dft_of(LoadVectors(in.at(row) + 2 * lane, 2 * stride * in.step), x);
    }
};

// Where the last pass writes: to vectors or pairs in order, or to elements.

struct ToVectors {
    float* out;

    PHY_INLINE void operator()(const Complex<Ops>& x, std::size_t bin) const { store(x, out + 2 * bin); }
};

struct ToPairs {
    float* out;

    PHY_INLINE void operator()(const Complex<Ops>& x, std::size_t bin) const {
        store_pairs(x, out + 2 * bin);
    }
};

template <int radix, class To>
void run_last_pass(LastPass pass, To to) {
    for (std::size_t row = 0; row < pass.stride; ++row) {
        for (std::size_t lane = 0; lane < pass.in.width; lane += Lanes::count) {
            Complex<Ops> x[radix];
            pass.transform(row, lane, x);
            const std::size_t bin = pass.first + pass.bins_of_row * row + lane;
            PHY_UNROLL_ALL
            for (int k = 0; k < radix; ++k)
                to(x[k], bin + static_cast<std::size_t>(k) * pass.step());
        }
    }
}

/// Elements are the bins below low_end and those from high_begin on.
struct ToElements {
    ToElements(const Elements& elements, std::size_t size)
        : low(elements.out + 2 * elements.zero),
          high(low - 2 * size),
          low_end(elements.count - elements.zero),
          high_begin(size - elements.zero),
          factor{elements.factor[0], elements.factor[1]} {}

    float* low;   ///< of bin 0
    float* high;  ///< where bin 0 would be
    std::size_t low_end;
    std::size_t high_begin;
    float factor[2];
};

/// True if an edge of elements is within the vector that begins with bin `first`.
PHY_INLINE bool is_inside(std::size_t edge, std::size_t first) {
    return first < edge && edge < first + Lanes::count;
}

/// Stores vectors of elements; none of bins that are not all elements.
template <int radix>
PHY_INLINE void store_elements(const Complex<Ops> (&x)[radix], std::size_t first, std::size_t step,
                               const ToElements& to) {
    PHY_UNROLL_ALL
    for (int k = 0; k < radix; ++k) {
        const std::size_t bin = first + static_cast<std::size_t>(k) * step;
        if (bin + Lanes::count <= to.low_end)
            store_pairs(x[k], to.low + 2 * bin);
        else if (bin >= to.high_begin)
            store_pairs(x[k], to.high + 2 * bin);
    }
}

/// Stores elements one by one, non-finite components as the one NaN. edges_only: not those of vectors that
/// store_elements() has stored or has no elements in.
template <int radix>
__attribute__((noinline)) void store_carefully(const LastPass& pass, std::size_t row, std::size_t lane,
                                               ToElements to, bool edges_only) {
    Complex<Ops> x[radix];
    pass.transform(row, lane, x);
    for (std::size_t k = 0; k < radix; ++k) {
        const std::size_t first = pass.first + pass.bins_of_row * row + lane + k * pass.step();
        if (edges_only && !is_inside(to.low_end, first) && !is_inside(to.high_begin, first)) continue;
        alignas(64) float pairs[2 * Lanes::count];
        store_pairs(with_one_nan<Ops>(product<Ops>(x[k], all_lanes(to.factor))), pairs);
        for (std::size_t i = 0; i < Lanes::count; ++i) {
            const std::size_t bin = first + i;
            if (bin < to.low_end)
                std::memcpy(to.low + 2 * bin, pairs + 2 * i, 2 * sizeof(float));
            else if (bin >= to.high_begin)
                std::memcpy(to.high + 2 * bin, pairs + 2 * i, 2 * sizeof(float));
        }
    }
}

/// Rare vectors are done again: a call in the first loop would cost it its registers.
template <int radix>
void run_last_pass(LastPass pass, ToElements to) {
    const Complex<Ops> factor = all_lanes(to.factor);
    auto products = Ops::set(0.0F);  // not finite if any number is not, and for some that are large
    for (std::size_t row = 0; row < pass.stride; ++row) {
        for (std::size_t lane = 0; lane < pass.in.width; lane += Lanes::count) {
            Complex<Ops> x[radix];
            pass.transform(row, lane, x);
            PHY_UNROLL_ALL
            for (int k = 0; k < radix; ++k) {
                x[k] = product<Ops>(x[k], factor);
                products = Ops::fma(x[k].re, x[k].im, products);
            }
            store_elements(x, pass.first + pass.bins_of_row * row + lane, pass.step(), to);
        }
    }
    const auto infinity = Ops::set(std::numeric_limits<float>::infinity());
    const bool finite = Lanes::all(Lanes::less(Ops::abs(products), infinity));
    const std::size_t edges[2] = {to.low_end % pass.step(), to.high_begin % pass.step()};
    for (std::size_t row = 0; row < pass.stride; ++row) {
        for (std::size_t lane = 0; lane < pass.in.width; lane += Lanes::count) {
            const std::size_t first = pass.first + pass.bins_of_row * row + lane;
            if (!finite || is_inside(edges[0], first) || is_inside(edges[1], first))
                store_carefully<radix>(pass, row, lane, to, finite);
        }
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
    const Groups& groups;
    const Rows& in;
    const Rows& out;

    template <int radix>
    PHY_INLINE void run() const {
        run_pass<radix>(groups, in, out);
    }
};

template <class To>
struct RunLastPass {
    const LastPass& pass;
    const To& to;

    template <int radix>
    PHY_INLINE void run() const {
        run_last_pass<radix>(pass, to);
    }
};

/// Runs the passes from `first_pass` on for transforms side by side, whose points are rows. work: two buffers
/// for as many rows. first: bin of the first number.
template <class To>
PHY_INLINE void run_passes(const Fft& fft, std::size_t first_pass, Rows in, const std::array<float*, 2>& work,
                           std::size_t first, const To& bins) {
    const std::size_t before = fft.pass[first_pass].stride;
    const std::size_t bins_of_row = first_pass == 0 ? in.width : before;
    std::size_t to = 0;
    for (std::size_t i = first_pass; i + 1 < fft.passes; ++i, to = 1 - to) {
        const FftPass& pass = fft.pass[i];
        const Rows out = {work[to], in.width, in.width};
        with_radix(pass.radix,
                   RunPass{{pass.groups, pass.stride / before, fft.table + pass.factors}, in, out});
        in = out;
    }
    const FftPass& last = fft.pass[fft.passes - 1];
    with_radix(last.radix, RunLastPass<To>{{last.stride / before, in, first, bins_of_row}, bins});
}

}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
