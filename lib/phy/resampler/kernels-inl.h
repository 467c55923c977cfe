// Outputs of a polyphase filter.
#if defined(PHY_RESAMPLER_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_RESAMPLER_KERNELS_INL_H_
#undef PHY_RESAMPLER_KERNELS_INL_H_
#else
#define PHY_RESAMPLER_KERNELS_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <limits>

#include "phy/resampler/kernels.hpp"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

// Partial sums of several outputs, and their totals: halves are added until one number is left.
#ifdef HWY_TARGET_INCLUDE
constexpr hn::CappedTag<float, 8> ds;
constexpr hn::Repartition<double, decltype(ds)> d64;
using Parts = hn::Vec<decltype(ds)>;
constexpr std::size_t outputs_of_group = HWY_MIN(std::size_t{8}, lanes);

/// The lower 64 bits of each block of a, then those of b, plus the upper ones.
PHY_INLINE Parts add_halves_of_blocks(Parts a, Parts b) {
    const auto x = hn::BitCast(d64, a);
    const auto y = hn::BitCast(d64, b);
    return hn::Add(hn::BitCast(ds, hn::InterleaveLower(d64, x, y)),
                   hn::BitCast(ds, hn::InterleaveUpper(d64, x, y)));
}

PHY_INLINE Parts add_neighbours(Parts a, Parts b) {
    return hn::Add(hn::ConcatEven(ds, b, a), hn::ConcatOdd(ds, b, a));
}

#if HWY_TARGET == HWY_NEON
/// The totals of four outputs with four parts each.
PHY_INLINE Parts totals(const float* parts) {
    const auto of = [=](std::size_t i) { return hn::Load(ds, parts + 4 * i); };
    return add_neighbours(add_halves_of_blocks(of(0), of(1)), add_halves_of_blocks(of(2), of(3)));
}
#else
/// The totals of eight outputs with eight parts each.
PHY_INLINE Parts totals(const float* parts) {
    const auto pair = [=](std::size_t i, std::size_t k) {
        const Parts a = hn::Load(ds, parts + 8 * i);
        const Parts b = hn::Load(ds, parts + 8 * k);
        return hn::Add(hn::ConcatLowerLower(ds, b, a), hn::ConcatUpperUpper(ds, b, a));
    };
    return add_neighbours(add_halves_of_blocks(pair(0, 2), pair(1, 3)),
                          add_halves_of_blocks(pair(4, 6), pair(5, 7)));
}
#endif

PHY_INLINE Parts without_infinity(Parts sums) {
    return hn::IfThenElse(hn::Lt(hn::Abs(sums), hn::Inf(ds)), sums, hn::NaN(ds));
}

/// Outputs of a group, component by component. Samples lie at any address: 512-bit loads of them would cross
/// cache lines each time.
class Group {
public:
    PHY_INLINE void sum(std::size_t output, const float* coefficients, const float* re, const float* im,
                        std::size_t taps) {
        Parts sums[2][vectors];
        for (std::size_t v = 0; v < vectors; ++v)
            sums[0][v] = sums[1][v] = hn::Zero(ds);
        for (std::size_t tap = 0; tap < taps; tap += partial_sums) {
            for (std::size_t v = 0; v < vectors; ++v) {
                const std::size_t at = tap + v * outputs_of_group;
                const Parts coefficient = hn::LoadU(ds, coefficients + at);
                sums[0][v] = hn::MulAdd(coefficient, hn::LoadU(ds, re + at), sums[0][v]);
                sums[1][v] = hn::MulAdd(coefficient, hn::LoadU(ds, im + at), sums[1][v]);
            }
        }
        for (std::size_t i = 0; i < 2; ++i) {
            for (std::size_t half = vectors / 2; half > 0; half /= 2)
                for (std::size_t v = 0; v < half; ++v)
                    sums[i][v] = hn::Add(sums[i][v], sums[i][v + half]);
            hn::Store(sums[i][0], ds, parts_[i] + outputs_of_group * output);
        }
    }

    PHY_INLINE void store(std::size_t count, std::byte* out) const {
        alignas(64) float pairs[2 * outputs_of_group];
        hn::StoreInterleaved2(without_infinity(totals(parts_[0])), without_infinity(totals(parts_[1])), ds,
                              pairs);
        if (count == outputs_of_group)
            std::memcpy(out, pairs, sizeof pairs);
        else
            std::memcpy(out, pairs, 2 * count * sizeof(float));
    }

private:
    static constexpr std::size_t vectors = partial_sums / outputs_of_group;

    alignas(64) float parts_[2][outputs_of_group * outputs_of_group];
};
#else
constexpr std::size_t outputs_of_group = 1;

class Group {
public:
    void sum(std::size_t /*output*/, const float* coefficients, const float* re, const float* im,
             std::size_t taps) {
        pair_[0] = total(coefficients, re, taps);
        pair_[1] = total(coefficients, im, taps);
    }

    void store(std::size_t /*count*/, std::byte* out) const { std::memcpy(out, pair_, sizeof pair_); }

private:
    static float total(const float* coefficients, const float* samples, std::size_t taps) {
        float sums[partial_sums] = {};
        for (std::size_t tap = 0; tap < taps; ++tap)
            sums[tap % partial_sums] = Ops::fma(coefficients[tap], samples[tap], sums[tap % partial_sums]);
        for (std::size_t half = partial_sums / 2; half > 0; half /= 2)
            for (std::size_t i = 0; i < half; ++i)
                sums[i] += sums[i + half];
        return Ops::select_finite(sums[0], sums[0], std::numeric_limits<float>::quiet_NaN());
    }

    float pair_[2] = {};
};
#endif

void split(const float* pairs, std::size_t count, float* re, float* im) {
    for (std::size_t i = 0; i < count; i += Lanes::count) {
        Ops::V even;
        Ops::V odd;
        Lanes::load_pairs(pairs + 2 * i, even, odd);
        Lanes::store(even, re + i);
        Lanes::store(odd, im + i);
    }
}

void resample(const Polyphase& filter, const float* re, const float* im, const ResampledRow& row,
              std::size_t count, void* out) {
    auto* bytes = static_cast<std::byte*>(out);
    const PolyphasePositions position(row);
    Group group;
    for (std::size_t first = 0; first < count; first += outputs_of_group) {
        const std::size_t here = std::min(outputs_of_group, count - first);
        for (std::size_t i = 0; i < outputs_of_group; ++i) {
            const std::size_t output = first + std::min(i, here - 1);
            const std::uint32_t phases = position(output);
            const std::size_t sample = phases / phases_of_sample;
            const float* const coefficients =
                filter.coefficients + std::size_t{phases % phases_of_sample} * filter.taps;
            group.sum(i, coefficients, re + sample, im + sample, filter.taps);
        }
        group.store(here, bytes);
        bytes += here * sizeof(float[2]);
    }
}

constexpr ResamplerKernels kernels = {&split, &resample};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
