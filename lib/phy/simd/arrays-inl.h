// The kernels of arrays.hpp. Inputs may be the caller's memory and end anywhere. Outputs in binary32 are
// padded, so whole vectors are stored.
#if defined(PHY_SIMD_ARRAYS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_SIMD_ARRAYS_INL_H_
#undef PHY_SIMD_ARRAYS_INL_H_
#else
#define PHY_SIMD_ARRAYS_INL_H_
#endif

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "phy/simd/arrays.hpp"
#include "phy/simd/lanes-inl.h"

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

template <typename T>
using Bits = std::conditional_t<sizeof(T) == 1, std::uint8_t,
                                std::conditional_t<sizeof(T) == 2, std::uint16_t, std::uint32_t>>;

// Conversions, negation, magnitudes and copies.
#ifdef HWY_TARGET_INCLUDE

constexpr hn::Rebind<hwy::float16_t, decltype(d)> d16;
constexpr hn::RebindToUnsigned<decltype(d16)> du16;

/// The next vector of components as binary32. left: number of components that remain.
template <typename Component>
HWY_INLINE Ops::V load_components(const std::byte* in, std::size_t left) {
    if constexpr (std::is_same_v<Component, float>) {
        return load_up_to(d, in, left);
    } else if constexpr (std::is_same_v<Component, half>) {
        return hn::PromoteTo(d, hn::BitCast(d16, load_up_to(du16, in, left)));
    } else {
        const hn::Rebind<Component, decltype(d)> narrow;
        return hn::ConvertTo(d, hn::PromoteTo(di, load_up_to(narrow, in, left)));
    }
}

template <typename SoftBit>
HWY_INLINE void store_soft_bits(Ops::V values, std::byte* out, std::size_t left) {
    static_assert(std::is_same_v<SoftBit, half>);
    const hn::Repartition<std::uint8_t, decltype(d16)> as_bytes;
    const auto bits = hn::BitCast(as_bytes, hn::DemoteTo(d16, values));
    auto* const bytes = reinterpret_cast<std::uint8_t*>(out);
    if (left >= lanes) {
        hn::StoreU(bits, as_bytes, bytes);
    } else {
        HWY_ALIGN std::uint8_t rest[2 * lanes];
        hn::Store(bits, as_bytes, rest);
        std::memcpy(bytes, rest, 2 * left);
    }
}

HWY_INLINE auto negated(IntegerLanes<std::int8_t>::V integers) {
    return hn::SaturatedSub(hn::Zero(IntegerLanes<std::int8_t>::tag), integers);
}

/// -128 has the magnitude 128.
HWY_INLINE auto magnitudes(IntegerLanes<std::uint8_t>::V integers) {
    const auto as_signed = hn::BitCast(IntegerLanes<std::int8_t>::tag, integers);
    return hn::BitCast(IntegerLanes<std::uint8_t>::tag, hn::Abs(as_signed));
}

void stream(const std::byte* in, std::byte* out, std::size_t bytes) {
    using Bytes = IntegerLanes<std::uint8_t>;
    constexpr std::size_t vector = Bytes::count;
    const std::size_t to_boundary = (vector - reinterpret_cast<std::uintptr_t>(out) % vector) % vector;
    std::size_t done = std::min(to_boundary, bytes);
    std::memcpy(out, in, done);
    for (; done + vector <= bytes; done += vector)
        hn::Stream(Bytes::load(in + done), Bytes::tag, reinterpret_cast<std::uint8_t*>(out + done));
    std::memcpy(out + done, in + done, bytes - done);
}

void finish_streams() {
    hwy::FlushStream();
}

#else

template <typename Component>
float load_components(const std::byte* in, std::size_t /*left*/) {
    Component component;
    std::memcpy(&component, in, sizeof component);
    return static_cast<float>(component);
}

template <typename SoftBit>
void store_soft_bits(float value, std::byte* out, std::size_t /*left*/) {
    const SoftBit rounded(value);
    std::memcpy(out, &rounded, sizeof rounded);
}

constexpr std::int8_t negated(std::int8_t integer) {
    return static_cast<std::int8_t>(-std::max<int>(integer, -std::numeric_limits<std::int8_t>::max()));
}

constexpr std::uint8_t magnitudes(std::uint8_t integer) {
    return integer < 0x80 ? integer : static_cast<std::uint8_t>(0x100 - integer);
}

void stream(const std::byte* in, std::byte* out, std::size_t bytes) {
    std::memcpy(out, in, bytes);
}

void finish_streams() {}

#endif

template <typename Component>
void widen(const void* in, float* out, std::size_t count, float unit) {
    const auto* bytes = static_cast<const std::byte*>(in);
    for (std::size_t i = 0; i < count; i += Lanes::count) {
        const std::byte* const here = bytes + i * sizeof(Component);
        Lanes::prefetch_ahead(here);
        Lanes::store(Ops::mul(load_components<Component>(here, count - i), Ops::set(unit)), out + i);
    }
}

template <typename SoftBit>
void narrow(const float* in, void* out, std::size_t count) {
    for (std::size_t i = 0; i < count; i += Lanes::count) {
        store_soft_bits<SoftBit>(Lanes::load(in + i), static_cast<std::byte*>(out) + i * sizeof(SoftBit),
                                 count - i);
    }
}

/// Negates the soft bits that signs select. Floating point numbers, NaNs included, change their sign bit
/// only.
template <typename SoftBit>
struct Flip {
    using Lane = std::conditional_t<std::is_integral_v<SoftBit>, SoftBit, Bits<SoftBit>>;
    using I = IntegerLanes<Lane>;
    const std::uint32_t* signs;

    PHY_INLINE typename I::V operator()(typename I::V soft_bits, std::size_t first) const {
        const auto negative = I::bit_mask(signs, first);
        if constexpr (std::is_integral_v<SoftBit>) {
            return I::select(negative, negated(soft_bits), soft_bits);
        } else {
            const auto sign = I::set(static_cast<Lane>(Lane{1} << (8 * sizeof(Lane) - 1)));
            return I::select(negative, static_cast<typename I::V>(soft_bits ^ sign), soft_bits);
        }
    }
};

template <typename SoftBit>
void flip(const void* in, void* out, std::size_t count, const std::uint32_t* signs) {
    change_all<typename Flip<SoftBit>::Lane>(in, out, count, Flip<SoftBit>{signs});
}

/// Compares the magnitude of integers, and all bits but the sign of others.
template <typename SoftBit>
struct CountMagnitude {
    using I = IntegerLanes<Bits<SoftBit>>;
    unsigned magnitude;

    PHY_INLINE std::size_t operator()(typename I::V soft_bits) const {
        const auto wanted = I::set(static_cast<Bits<SoftBit>>(magnitude));
        if constexpr (std::is_integral_v<SoftBit>) {
            return I::count_true(I::equal(magnitudes(soft_bits), wanted));
        } else {
            const auto but_sign = static_cast<typename I::V>(soft_bits & I::set(0x7FFF));
            return I::count_true(I::equal(but_sign, wanted));
        }
    }
};

// Zeros fill the last vector; they never match.
template <typename SoftBit>
std::uint64_t count_magnitude(const void* soft_bits, std::size_t count, unsigned magnitude) {
    using I = IntegerLanes<Bits<SoftBit>>;
    const CountMagnitude<SoftBit> matches{magnitude};
    const auto* bytes = static_cast<const std::byte*>(soft_bits);
    std::uint64_t found = 0;
    std::size_t i = 0;
    for (; i + I::count <= count; i += I::count)
        found += matches(I::load(bytes + i * sizeof(SoftBit)));
    if (i == count) return found;
    alignas(64) Bits<SoftBit> rest[I::count] = {};
    std::memcpy(rest, bytes + i * sizeof(SoftBit), (count - i) * sizeof(SoftBit));
    return found + matches(I::load(rest));
}

std::uint64_t count_not_finite(const float* components, std::size_t count) {
    if (all_finite(components, count)) return 0;
    const auto infinity = Ops::set(std::numeric_limits<float>::infinity());
    std::size_t finite = 0;
    std::size_t i = 0;
    for (; i < count; i += Lanes::count) {
        const auto loaded = Lanes::load_up_to(components + i, count - i);
        finite += Lanes::count_true(Lanes::less(Ops::abs(loaded), infinity));
    }
    return i - finite;  // the padding is finite
}

template <typename SoftBit>
constexpr void add_soft_bit_kernels(ArrayKernels& table) {
    constexpr auto format = static_cast<std::size_t>(soft_bit_format_of<SoftBit>);
    table.flip[format] = &flip<SoftBit>;
    if constexpr (sizeof(SoftBit) <= 2) table.count_magnitude[format] = &count_magnitude<SoftBit>;
    if constexpr (is_narrowed(soft_bit_format_of<SoftBit>)) table.narrow[format] = &narrow<SoftBit>;
}

template <std::size_t... sample, std::size_t... soft_bit>
constexpr ArrayKernels make_kernels(std::index_sequence<sample...>, std::index_sequence<soft_bit...>) {
    ArrayKernels table{};
    table.widen = {&widen<ComponentTypes::At<sample>>...};
    (add_soft_bit_kernels<SoftBitTypes::At<soft_bit>>(table), ...);
    table.count_not_finite = &count_not_finite;
    table.stream = &stream;
    table.finish_streams = &finish_streams;
    return table;
}

constexpr ArrayKernels kernels = make_kernels(std::make_index_sequence<ComponentTypes::size>(),
                                              std::make_index_sequence<SoftBitTypes::size>());

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
