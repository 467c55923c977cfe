// Array operations on whole vectors; Highway compiles this file for every instruction set of the list. Inputs
// may be the caller's memory and end anywhere. Outputs in binary32 are padded, so whole vectors are stored.

#include "phy/simd/arrays.hpp"

#include <cstring>
#include <type_traits>
#include <utility>

#include "phy/simd/kernels.hpp"

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/simd/arrays.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if PHY_IS_SIMD_TARGET
#include "phy/simd/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

/// The next vector of components as binary32. left: number of components that remain.
template <typename Component>
HWY_INLINE Ops::V load_components(const std::uint8_t* in, std::size_t left, float unit) {
    if constexpr (std::is_same_v<Component, float>) {
        return load_up_to(d, in, left);
    } else if constexpr (std::is_same_v<Component, half>) {
        const hn::Rebind<hwy::float16_t, decltype(d)> d16;
        const hn::RebindToUnsigned<decltype(d16)> du16;
        return hn::PromoteTo(d, hn::BitCast(d16, load_up_to(du16, in, left)));
    } else {
        const hn::Rebind<Component, decltype(d)> narrow;
        const auto integers = hn::PromoteTo(di, load_up_to(narrow, in, left));
        return hn::Mul(hn::ConvertTo(d, integers), hn::Set(d, unit));
    }
}

template <typename Component>
void widen(const void* in, float* out, std::size_t count, float unit) {
    const auto* bytes = static_cast<const std::uint8_t*>(in);
    for (std::size_t i = 0; i < count; i += lanes) {
        const std::uint8_t* const here = bytes + i * sizeof(Component);
        hwy::Prefetch(here + prefetch_distance);
        hn::StoreU(load_components<Component>(here, count - i, unit), d, out + i);
    }
}

/// Converts to the bits of a soft bit of two bytes.
template <typename SoftBit>
HWY_INLINE auto narrowed(Ops::V values) {
    static_assert(std::is_same_v<SoftBit, half>);
    const hn::Rebind<hwy::float16_t, decltype(d)> d16;
    const hn::RebindToUnsigned<decltype(d16)> du16;
    return hn::BitCast(du16, hn::DemoteTo(d16, values));
}

template <typename SoftBit>
void narrow(const float* in, void* out_erased, std::size_t count) {
    const hn::Rebind<std::uint16_t, decltype(d)> du16;
    auto* out = static_cast<std::uint8_t*>(out_erased);
    for (std::size_t i = 0; i < count; i += lanes) {
        HWY_ALIGN std::uint16_t bits[lanes];
        hn::Store(narrowed<SoftBit>(hn::LoadU(d, in + i)), du16, bits);
        if (count - i >= lanes) {
            std::memcpy(out + 2 * i, bits, 2 * lanes);
        } else {
            std::memcpy(out + 2 * i, bits, 2 * (count - i));
        }
    }
}

/// Negates the soft bits that a mask selects.
template <typename SoftBit>
struct Flipper {
    using Lane = std::conditional_t<sizeof(SoftBit) == 1, std::int8_t,
                                    std::conditional_t<sizeof(SoftBit) == 2, std::uint16_t, std::uint32_t>>;
    static constexpr hn::Repartition<Lane, decltype(d)> tag{};
    static constexpr std::size_t step = lanes * sizeof(float) / sizeof(Lane);

    template <typename Mask>
    static HWY_INLINE hn::Vec<decltype(tag)> flipped(hn::Vec<decltype(tag)> soft_bits, Mask negative) {
        if constexpr (sizeof(SoftBit) == 1) {
            return hn::IfThenElse(negative, hn::SaturatedSub(hn::Zero(tag), soft_bits), soft_bits);
        } else {
            constexpr auto sign = static_cast<Lane>(Lane{1} << (8 * sizeof(Lane) - 1));
            return hn::IfThenElse(negative, hn::Xor(soft_bits, hn::Set(tag, sign)), soft_bits);
        }
    }

    /// The mask of the vector that begins at soft bit i.
    static HWY_INLINE auto mask(const std::uint8_t* signs, std::size_t i) {
        if constexpr (step % 8 == 0) {
            return hn::LoadMaskBits(tag, signs + i / 8);
        } else {
            const std::uint8_t shifted[8] = {static_cast<std::uint8_t>(signs[i / 8] >> (i % 8))};
            return hn::LoadMaskBits(tag, shifted);
        }
    }
};

template <typename SoftBit>
void flip(const void* in, void* out, std::size_t count, const std::uint32_t* signs) {
    using F = Flipper<SoftBit>;
    const auto* const from = static_cast<const typename F::Lane*>(in);
    auto* const to = static_cast<typename F::Lane*>(out);
    const auto* const bits = reinterpret_cast<const std::uint8_t*>(signs);
    std::size_t i = 0;
    for (; i + F::step <= count; i += F::step)
        hn::StoreU(F::flipped(hn::LoadU(F::tag, from + i), F::mask(bits, i)), F::tag, to + i);
    if (i == count) return;
    const std::size_t bytes = (count - i) * sizeof(SoftBit);
    HWY_ALIGN typename F::Lane rest[F::step] = {};
    std::memcpy(rest, from + i, bytes);
    hn::Store(F::flipped(hn::Load(F::tag, rest), F::mask(bits, i)), F::tag, rest);
    std::memcpy(to + i, rest, bytes);
}

// Zeros fill the last vector; they never match.
template <typename Unsigned, typename Matches>
HWY_INLINE std::uint64_t count_matches(const void* in, std::size_t count, const Matches& matches) {
    const hn::Repartition<Unsigned, decltype(d)> tag;
    constexpr std::size_t step = lanes * sizeof(float) / sizeof(Unsigned);
    const auto* bytes = static_cast<const std::uint8_t*>(in);
    std::uint64_t found = 0;
    std::size_t i = 0;
    for (; i + step <= count; i += step) {
        const auto* from = reinterpret_cast<const Unsigned*>(bytes + i * sizeof(Unsigned));
        found += hn::CountTrue(tag, matches(tag, hn::LoadU(tag, from)));
    }
    HWY_ALIGN Unsigned rest[step] = {};
    std::memcpy(rest, bytes + i * sizeof(Unsigned), (count - i) * sizeof(Unsigned));
    return found + hn::CountTrue(tag, matches(tag, hn::Load(tag, rest)));
}

/// Compares the magnitude of integers, and all bits but the sign of others.
template <typename SoftBit>
struct HasMagnitude {
    unsigned magnitude;
    template <typename D>
    HWY_INLINE auto operator()(D tag, hn::Vec<D> soft_bits) const {
        const auto wanted = hn::Set(tag, static_cast<hn::TFromD<D>>(magnitude));
        if constexpr (std::is_integral_v<SoftBit>) {
            const hn::RebindToSigned<D> as_signed;
            return hn::Eq(hn::BitCast(tag, hn::Abs(hn::BitCast(as_signed, soft_bits))), wanted);
        } else {
            return hn::Eq(hn::And(soft_bits, hn::Set(tag, std::uint16_t{0x7FFF})), wanted);
        }
    }
};

template <typename SoftBit>
std::uint64_t count_magnitude(const void* soft_bits, std::size_t count, unsigned magnitude) {
    using Unsigned = std::conditional_t<sizeof(SoftBit) == 1, std::uint8_t, std::uint16_t>;
    return count_matches<Unsigned>(soft_bits, count, HasMagnitude<SoftBit>{magnitude});
}

std::uint64_t count_not_finite(const float* components, std::size_t count) {
    std::size_t finite = 0;
    std::size_t i = 0;
    for (; i < count; i += lanes) {
        finite += hn::CountTrue(d, Ops::finite(load_up_to(d, components + i, count - i)));
    }
    return i - finite;  // the padding is finite
}

constexpr hn::Repartition<std::uint8_t, decltype(d)> d8;

void stream(const std::byte* in, std::byte* out, std::size_t bytes) {
    constexpr std::size_t vector = 4 * lanes;
    const std::size_t to_boundary = (vector - reinterpret_cast<std::uintptr_t>(out) % vector) % vector;
    std::size_t done = HWY_MIN(to_boundary, bytes);
    std::memcpy(out, in, done);
    for (; done + vector <= bytes; done += vector) {
        const auto* from = reinterpret_cast<const std::uint8_t*>(in + done);
        hn::Stream(hn::LoadU(d8, from), d8, reinterpret_cast<std::uint8_t*>(out + done));
    }
    std::memcpy(out + done, in + done, bytes - done);
}

void finish_streams() {
    hwy::FlushStream();
}

#include "phy/simd/array_tables.inc"

}  // namespace

extern constinit const ArrayKernels array_kernels_of_target;
constinit const ArrayKernels array_kernels_of_target = make_array_kernels();

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const ArrayKernels& array_kernels(const Backend& backend) {
    static constexpr KernelsByTarget<ArrayKernels> by_target =
        PHY_ADDRESSES_BY_TARGET(array_kernels_of_target);
    return kernels_of(backend, scalar_array_kernels, by_target);
}

}  // namespace phy::detail
#endif
