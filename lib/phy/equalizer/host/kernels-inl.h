// Loops over rows.
#if defined(PHY_EQUALIZER_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_EQUALIZER_KERNELS_INL_H_
#undef PHY_EQUALIZER_KERNELS_INL_H_
#else
#define PHY_EQUALIZER_KERNELS_INL_H_
#endif

#include <cstddef>
#include <cstring>

#include "phy/equalizer/host/kernels.hpp"
#include "phy/equalizer/host/layers-inl.h"
#include "phy/equalizer/math/slot-inl.h"
#include "phy/equalizer/math/solve-inl.h"
#include "phy/equalizer/math/whitening-inl.h"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

using V = Ops::V;

template <int layers>
PHY_INLINE Column<Ops, layers> load_column(const float* rows, std::size_t stride) {
    Column<Ops, layers> h;
    PHY_UNROLL_ALL
    for (std::size_t i = 0; i < layers; ++i) {
        h.re[i] = Lanes::load(rows + 2 * i * stride);
        h.im[i] = Lanes::load(rows + (2 * i + 1) * stride);
    }
    return h;
}

/// Kernels prefetch this many subcarriers ahead: runs are short pieces of many arrays, which processors do
/// not predict.
constexpr std::size_t ahead = 64;

/// Received samples.
PHY_INLINE void load_received(const float* from, V& re, V& im) {
    Lanes::load_pairs(from, re, im);
    if constexpr (Lanes::count > 1) {
        __builtin_prefetch(from + 2 * ahead);
        __builtin_prefetch(from + 2 * ahead + Lanes::count);
    }
}

template <int layers>
PHY_INLINE void prefetch_column(const float* rows, std::size_t stride) {
    if constexpr (Lanes::count > 1) {
        PHY_UNROLL_ALL
        for (std::size_t i = 0; i < 2 * layers; ++i)
            __builtin_prefetch(rows + i * stride + ahead);
    }
}

/// The rows of one vector of coefficients after interpolation.
struct VectorRows {
    const float* first;
    std::size_t stride;
};

PHY_INLINE void interpolate(const ChannelRows& channel, std::size_t rows, const float* at, float* out) {
    const std::size_t estimate = rows * channel.stride;
    const V weight = Ops::set(channel.weights[0]);
    if (channel.estimates == 2) {
        const V second = Ops::set(channel.weights[1]);
        for (std::size_t r = 0; r < rows; ++r, at += channel.stride)
            Lanes::store(Ops::fma(second, Lanes::load(at + estimate), Ops::mul(weight, Lanes::load(at))),
                         out + r * Lanes::count);
        return;
    }
    for (std::size_t r = 0; r < rows; ++r, at += channel.stride) {
        V sum = Ops::mul(weight, Lanes::load(at));
        for (int e = 1; e < channel.estimates; ++e)
            sum = Ops::fma(Ops::set(channel.weights[e]),
                           Lanes::load(at + static_cast<std::size_t>(e) * estimate), sum);
        Lanes::store(sum, out + r * Lanes::count);
    }
}

/// Returns the coefficients of the vector that begins with subcarrier k.
template <int layers>
PHY_INLINE VectorRows rows_at(const ChannelRows& channel, std::size_t k, float* interpolated) {
    if (channel.weights == nullptr) return {channel.first + k, channel.stride};
    interpolate(channel, 2 * layers * static_cast<std::size_t>(channel.antennas), channel.first + k,
                interpolated);
    return {interpolated, Lanes::count};
}

template <int layers>
PHY_INLINE Triangle<Ops, layers> gram_at(const VectorRows& rows, int antennas) {
    Triangle<Ops, layers> gram = zero_triangle<Ops, layers>();
    const float* row = rows.first;
    for (int a = 0; a < antennas; ++a, row += 2 * layers * rows.stride)
        add_to_gram<Ops, layers>(load_column<layers>(row, rows.stride), gram);
    return gram;
}

/// The phase of an OFDM symbol.
struct Phase {
    V re;
    V im;
    bool rotates;

    explicit PHY_INLINE Phase(cf32 phase)
        : re(Ops::set(phase.real())), im(Ops::set(phase.imag())), rotates(phase != cf32(1.0F)) {}
};

/// Erases elements that are not finite, and stores `count` elements.
template <int layers>
PHY_INLINE void finish_vector(Column<Ops, layers>& x, V* noise, const Phase& phase, std::size_t count,
                              float* symbols, float* noise_out) {
    if (phase.rotates) {
        PHY_UNROLL_ALL
        for (int i = 0; i < layers; ++i)
            rotate_back<Ops>(phase.re, phase.im, x.re[i], x.im[i]);
    }
    PHY_UNROLL_ALL
    for (int i = 0; i < layers; ++i)
        erase_unless_finite<Ops>(x.re[i], x.im[i], noise[i]);
    if (count >= Lanes::count) {
        store_symbols<layers>(x.re, x.im, symbols);
        store_noise<layers>(noise, noise_out);
        return;
    }
    alignas(64) float some[2 * layers * Lanes::count];
    store_symbols<layers>(x.re, x.im, some);
    std::memcpy(symbols, some, 2 * layers * count * sizeof(float));
    store_noise<layers>(noise, some);
    std::memcpy(noise_out, some, layers * count * sizeof(float));
}

/// H^H H and H^H y of a vector of resource elements.
template <int layers>
struct NormalEquations {
    Triangle<Ops, layers> gram;
    Column<Ops, layers> matched;
};

/// The shape of the channel that is known at compile time; 0: known at run time.
template <int of_antennas, int of_estimates>
struct Shape {
    static constexpr int antennas = of_antennas;
    static constexpr int estimates = of_estimates;  ///< 1: one, unchanged
};

/// Loads the coefficients of the antenna whose first estimate begins at `row`.
template <int layers, class Known>
PHY_INLINE Column<Ops, layers> sum_of_estimates(const ChannelRows& channel, const float* row,
                                                std::size_t estimate) {
    Column<Ops, layers> h = load_column<layers>(row, channel.stride);
    if constexpr (Known::estimates == 1) {
        prefetch_column<layers>(row, channel.stride);
        return h;
    }
    scale<Ops, layers>(Ops::set(channel.weights[0]), h);
    const int estimates = Known::estimates > 0 ? Known::estimates : channel.estimates;
    for (int e = 1; e < estimates; ++e) {
        row += estimate;
        add_estimate<Ops, layers>(Ops::set(channel.weights[e]), load_column<layers>(row, channel.stride), h);
    }
    return h;
}

template <int layers>
PHY_INLINE void add_antenna(const Column<Ops, layers>& h, const float* received,
                            NormalEquations<layers>& sums) {
    V y_re;
    V y_im;
    load_received(received, y_re, y_im);
    add_to_gram<Ops, layers>(h, sums.gram);
    add_matched<Ops, layers>(h, y_re, y_im, sums.matched);
}

/// For few layers: registers hold both sums together.
template <int layers, class Known>
PHY_INLINE NormalEquations<layers> equations_at_once(const ChannelRows& channel, const ReceivedRows& received,
                                                     std::size_t k) {
    NormalEquations<layers> sums = {zero_triangle<Ops, layers>(), zero_column<Ops, layers>()};
    const int antennas = Known::antennas > 0 ? Known::antennas : channel.antennas;
    const std::size_t of_antenna = 2 * layers * channel.stride;
    const std::size_t estimate = static_cast<std::size_t>(antennas) * of_antenna;
    const float* row = channel.first + k;
    const float* from = received.first + 2 * k;
    const auto next_antenna = [&] {
        add_antenna<layers>(sum_of_estimates<layers, Known>(channel, row, estimate), from, sums);
        row += of_antenna;
        from += received.stride;
    };
    if constexpr (Known::antennas > 0) {
        PHY_UNROLL_ALL
        for (int a = 0; a < Known::antennas; ++a)
            next_antenna();
    } else {
        int a = 0;
        do  // at least one, so that sums need not start in memory
            next_antenna();
        while (++a < antennas);
    }
    return sums;
}

/// For many layers: one sum after the other.
template <int layers>
PHY_INLINE NormalEquations<layers> equations_in_turn(const ChannelRows& channel, const ReceivedRows& received,
                                                     std::size_t k) {
    alignas(64) float interpolated[2 * layers * max_antennas * Lanes::count];
    const VectorRows rows = rows_at<layers>(channel, k, interpolated);
    NormalEquations<layers> sums = {gram_at<layers>(rows, channel.antennas), zero_column<Ops, layers>()};
    const float* row = rows.first;
    const float* from = received.first + 2 * k;
    for (int a = 0; a < channel.antennas; ++a, row += 2 * layers * rows.stride, from += received.stride) {
        V y_re;
        V y_im;
        Lanes::load_pairs(from, y_re, y_im);
        Column<Ops, layers> h = load_column<layers>(row, rows.stride);
        PHY_UNROLL_ALL
        for (int i = 0; i < layers; ++i) {
            Lanes::keep_loaded(h.re[i]);
            Lanes::keep_loaded(h.im[i]);
        }
        add_matched<Ops, layers>(h, y_re, y_im, sums.matched);
    }
    return sums;
}

PHY_INLINE void store_pairs(PairNumbers<Ops> pair, const Phase& phase, std::size_t count, float* out) {
    if (phase.rotates) pair.rotate_back(phase.re, phase.im);
    pair.erase_unless_finite();
    if (count >= Lanes::count) return store_symbols<4>(pair.re, pair.im, out);
    alignas(64) float some[floats_of_pair * Lanes::count];
    store_symbols<4>(pair.re, pair.im, some);
    std::memcpy(out, some, floats_of_pair * count * sizeof(float));
}

template <int layers, bool mmse, class Known>
void solve_rows_of(const ChannelRows& channel, const ReceivedRows& received, std::size_t count,
                   const EqualizedRow& out) {
    const V noise_variance = Ops::set(channel.noise);
    const Phase phase(received.phase);
    for (std::size_t k = 0; k < count; k += Lanes::count) {
        const NormalEquations<layers> sums = layers <= 2
                                                 ? equations_at_once<layers, Known>(channel, received, k)
                                                 : equations_in_turn<layers>(channel, received, k);
        if constexpr (layers == 2) {
            if (out.pairs != nullptr)
                store_pairs({sums.matched, sums.gram, noise_variance}, phase, count - k,
                            out.pairs + floats_of_pair * k);
        }
        Separator<Ops, layers, mmse> separator(sums.gram, noise_variance);
        Column<Ops, layers> x = separator(sums.matched);
        finish_vector<layers>(x, separator.noise, phase, count - k, out.symbols + 2 * layers * k,
                              out.noise + layers * k);
    }
}

template <int layers, bool mmse, int antennas>
void solve_rows_for(const ChannelRows& channel, const ReceivedRows& received, std::size_t count,
                    const EqualizedRow& out) {
    if (channel.weights == nullptr)
        return solve_rows_of<layers, mmse, Shape<antennas, 1>>(channel, received, count, out);
    if (channel.estimates == 2)
        return solve_rows_of<layers, mmse, Shape<antennas, 2>>(channel, received, count, out);
    solve_rows_of<layers, mmse, Shape<0, 0>>(channel, received, count, out);
}

/// With more layers, each antenna has enough work to hide a loop.
template <int layers, bool mmse>
void solve_rows(const ChannelRows& channel, const ReceivedRows& received, std::size_t count,
                const EqualizedRow& out) {
    if constexpr (layers == 1) {
        switch (channel.antennas) {
            case 1:
                return solve_rows_for<layers, mmse, 1>(channel, received, count, out);
            case 2:
                return solve_rows_for<layers, mmse, 2>(channel, received, count, out);
            case 4:
                return solve_rows_for<layers, mmse, 4>(channel, received, count, out);
            case 8:
                return solve_rows_for<layers, mmse, 8>(channel, received, count, out);
            default:
                break;
        }
    }
    if constexpr (layers <= 2) {
        solve_rows_for<layers, mmse, 0>(channel, received, count, out);
    } else {
        solve_rows_of<layers, mmse, Shape<0, 0>>(channel, received, count, out);
    }
}

template <int layers, bool mmse>
void make_filters(const ChannelRows& channel, std::size_t count, float* filters, std::size_t stride) {
    alignas(64) float interpolated[2 * layers * max_antennas * Lanes::count];
    const V noise_variance = Ops::set(channel.noise);
    for (std::size_t k = 0; k < count; k += Lanes::count) {
        const VectorRows rows = rows_at<layers>(channel, k, interpolated);
        const Separator<Ops, layers, mmse> separator(gram_at<layers>(rows, channel.antennas), noise_variance);
        const float* row = rows.first;
        float* filter = filters + k;
        for (int a = 0; a < channel.antennas; ++a, row += 2 * layers * rows.stride) {
            const Column<Ops, layers> w =
                separator(conjugate<Ops, layers>(load_column<layers>(row, rows.stride)));
            PHY_UNROLL_ALL
            for (int i = 0; i < layers; ++i, filter += 2 * stride) {
                Lanes::store(w.re[i], filter);
                Lanes::store(w.im[i], filter + stride);
            }
        }
        PHY_UNROLL_ALL
        for (int i = 0; i < layers; ++i, filter += stride)
            Lanes::store(separator.noise[i], filter);
    }
}

template <int layers>
void apply_filters(const float* filters, std::size_t stride, int antennas, const ReceivedRows& received,
                   std::size_t count, const EqualizedRow& out) {
    const Phase phase(received.phase);
    for (std::size_t k = 0; k < count; k += Lanes::count) {
        Column<Ops, layers> x = zero_column<Ops, layers>();
        const float* from = received.first + 2 * k;
        const float* filter = filters + k;
        for (int a = 0; a < antennas; ++a, from += received.stride, filter += 2 * layers * stride) {
            V y_re;
            V y_im;
            load_received(from, y_re, y_im);
            add_filtered<Ops, layers>(load_column<layers>(filter, stride), y_re, y_im, x);
        }
        V noise[layers];
        PHY_UNROLL_ALL
        for (int i = 0; i < layers; ++i, filter += stride)
            noise[i] = Lanes::load(filter);
        finish_vector<layers>(x, noise, phase, count - k, out.symbols + 2 * layers * k,
                              out.noise + layers * k);
    }
}

/// Interleaved rows of antennas. Elements after the last one are of another subband, and stay.
struct ComplexRows {
    const float* from;
    std::size_t from_stride;
    float* to;
    std::size_t to_stride;

    PHY_INLINE void load(std::size_t antenna, std::size_t k, V& re, V& im) const {
        Lanes::load_pairs(from + antenna * from_stride + 2 * k, re, im);
    }
    PHY_INLINE void store(std::size_t antenna, std::size_t k, V re, V im, std::size_t left) const {
        float* const at = to + antenna * to_stride + 2 * k;
        if (left >= Lanes::count) return Lanes::store_pairs(re, im, at);
        alignas(64) float some[2 * Lanes::count];
        Lanes::store_pairs(re, im, some);
        std::memcpy(at, some, 2 * left * sizeof(float));
    }
};

/// Two rows of each antenna. Subbands are whole vectors, and what follows the last one is not used.
struct PlanarRows {
    float* first;
    std::size_t stride;
    std::size_t row;

    PHY_INLINE void load(std::size_t antenna, std::size_t k, V& re, V& im) const {
        re = Lanes::load(first + antenna * stride + k);
        im = Lanes::load(first + antenna * stride + row + k);
    }
    PHY_INLINE void store(std::size_t antenna, std::size_t k, V re, V im, std::size_t) const {
        Lanes::store(re, first + antenna * stride + k);
        Lanes::store(im, first + antenna * stride + row + k);
    }
};

/// Visits 0, 1 ... count - 1. known: their number, so that the indices are constants, or 0.
template <std::size_t known, class Visitor>
PHY_INLINE void for_each_antenna(std::size_t count, const Visitor& visit) {
    if constexpr (known > 0) {
        PHY_UNROLL_ALL
        for (std::size_t a = 0; a < known; ++a)
            visit(a);
    } else {
        for (std::size_t a = 0; a < count; ++a)
            visit(a);
    }
}

/// Multiplies antennas by the triangular matrix.
template <std::size_t known, class Rows>
void whiten_known(const WhiteningRows& whitening, const Rows& rows, std::size_t count) {
    const auto antennas = static_cast<std::size_t>(whitening.antennas);
    V re[known > 0 ? known : max_antennas];
    V im[known > 0 ? known : max_antennas];
    for (std::size_t k = 0; k < count; k += Lanes::count) {
        for_each_antenna<known>(antennas, [&](std::size_t a) { rows.load(a, k, re[a], im[a]); });
        for_each_antenna<known>(antennas, [&](std::size_t a) {
            const cf32* const weights = whitening.matrix + a * antennas;
            V sum_re = Ops::set(0.0F);
            V sum_im = Ops::set(0.0F);
            for (std::size_t b = 0; b < a; ++b)
                add_weighted<Ops>(Ops::set(weights[b].real()), Ops::set(weights[b].imag()), re[b], im[b],
                                  sum_re, sum_im);
            add_scaled<Ops>(Ops::set(weights[a].real()), re[a], im[a], sum_re, sum_im);
            rows.store(a, k, sum_re, sum_im, count - k);
        });
    }
}

template <class Rows>
void whiten_rows(const WhiteningRows& whitening, const Rows& rows, std::size_t count) {
    switch (whitening.antennas) {
        case 2:
            return whiten_known<2>(whitening, rows, count);
        case 4:
            return whiten_known<4>(whitening, rows, count);
        default:
            return whiten_known<0>(whitening, rows, count);
    }
}

void whiten_received(const WhiteningRows& whitening, const ReceivedRows& from, float* to, std::size_t stride,
                     std::size_t count) {
    whiten_rows(whitening, ComplexRows{from.first, from.stride, to, stride}, count);
}

void whiten_channel(const WhiteningRows& whitening, float* rows, std::size_t stride, std::size_t row,
                    std::size_t count) {
    whiten_rows(whitening, PlanarRows{rows, stride, row}, count);
}

template <int layers>
constexpr void add_layers(EqualizerKernels& kernels) {
    constexpr bool mmse = layers > 1;
    kernels.solve[layers - 1] = {&solve_rows<layers, false>, &solve_rows<layers, mmse>};
    kernels.make_filters[layers - 1] = {&make_filters<layers, false>, &make_filters<layers, mmse>};
    kernels.apply_filters[layers - 1] = &apply_filters<layers>;
}

constexpr EqualizerKernels make_kernels() {
    EqualizerKernels kernels{};
    add_layers<1>(kernels);
    add_layers<2>(kernels);
    add_layers<3>(kernels);
    add_layers<4>(kernels);
    kernels.whiten_received = &whiten_received;
    kernels.whiten_channel = &whiten_channel;
    return kernels;
}

constexpr EqualizerKernels kernels = make_kernels();

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
