// Whole vectors at a time, compiled by Highway for every instruction set of the list.

#include "phy/measure/host/soft_bit_kernels.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "phy/simd/kernels.hpp"

#include <hwy/cache_control.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "phy/measure/host/soft_bit_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#if PHY_IS_SIMD_TARGET
#include "phy/simd/load-inl.h"

HWY_BEFORE_NAMESPACE();
namespace phy::detail::HWY_NAMESPACE {
namespace {

/// By its number: the address may be beyond the array.
HWY_INLINE void prefetch(const void* from) {
    const auto address = reinterpret_cast<std::uintptr_t>(from) + prefetch_distance;
    hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(address));
}

// Integers.

constexpr hn::Repartition<std::int8_t, decltype(d)> di8;
constexpr hn::Repartition<std::uint8_t, decltype(d)> du8;
constexpr hn::Repartition<std::uint64_t, decltype(d)> du64;
constexpr std::size_t bytes_of_vector = 4 * lanes;

/// After so many vectors a counter of 8 bits may be full.
constexpr std::size_t most_vectors = 255;

using Counter = hn::Vec<decltype(du8)>;
using WideCounter = hn::Vec<decltype(du64)>;

HWY_INLINE Counter count(Counter counter, hn::Mask<decltype(du8)> mask) {
    return hn::Sub(counter, hn::VecFromMask(du8, mask));
}

HWY_INLINE std::uint64_t total(WideCounter counter) {
    return hn::GetLane(hn::SumOfLanes(du64, counter));
}

struct IntegerSums {
    WideCounter magnitude;
    WideCounter saturated;
    WideCounter zeros;
    WideCounter wrong;
};

/// At most most_vectors.
template <bool compares>
HWY_INLINE void add_integers(const std::int8_t* soft_bits, const std::uint8_t* truth, std::size_t vectors,
                             int clip, IntegerSums& to) {
    const auto limit = hn::Set(du8, static_cast<std::uint8_t>(clip));
    const auto zero = hn::Zero(du8);
    auto magnitude = to.magnitude;
    Counter saturated = zero;
    Counter zeros = zero;
    Counter wrong = zero;
    for (std::size_t n = 0; n < vectors; ++n) {
        const auto values = hn::LoadU(di8, soft_bits + n * bytes_of_vector);
        prefetch(soft_bits + n * bytes_of_vector);
        const auto magnitudes = hn::BitCast(du8, hn::Abs(values));
        magnitude = hn::Add(magnitude, hn::SumsOf8(magnitudes));
        saturated = count(saturated, hn::Eq(magnitudes, limit));
        zeros = count(zeros, hn::Eq(magnitudes, zero));
        if constexpr (compares) {
            const auto bits = hn::LoadU(du8, truth + n * bytes_of_vector);
            prefetch(truth + n * bytes_of_vector);
            const auto is_zero = hn::VecFromMask(du8, hn::Eq(bits, zero));
            const auto is_negative = hn::BitCast(du8, hn::BroadcastSignBit(values));
            // Where both are the same the decision is wrong.
            wrong = count(wrong, hn::Eq(is_zero, is_negative));
        }
    }
    to.magnitude = magnitude;
    to.saturated = hn::Add(to.saturated, hn::SumsOf8(saturated));
    to.zeros = hn::Add(to.zeros, hn::SumsOf8(zeros));
    to.wrong = hn::Add(to.wrong, hn::SumsOf8(wrong));
}

template <bool compares>
HWY_INLINE SoftBitSums sum_integers(const SoftBitBlock& block, int clip) {
    const auto* const soft_bits = reinterpret_cast<const std::int8_t*>(block.soft_bits);
    const std::size_t vectors = block.count / bytes_of_vector;
    const auto none = hn::Zero(du64);
    IntegerSums sums = {none, none, none, none};
    for (std::size_t done = 0; done < vectors; done += most_vectors) {
        const std::size_t first = done * bytes_of_vector;
        add_integers<compares>(soft_bits + first, compares ? block.truth + first : nullptr,
                               HWY_MIN(most_vectors, vectors - done), clip, sums);
    }
    const std::size_t rest = block.count % bytes_of_vector;
    if (rest != 0) {
        HWY_ALIGN std::int8_t last[bytes_of_vector] = {};
        HWY_ALIGN std::uint8_t last_truth[bytes_of_vector] = {};
        std::memcpy(last, soft_bits + block.count - rest, rest);
        if (compares) std::memcpy(last_truth, block.truth + block.count - rest, rest);
        add_integers<compares>(last, last_truth, 1, clip, sums);
    }
    const std::uint64_t padded = rest != 0 ? bytes_of_vector - rest : 0;
    return {.magnitude = static_cast<double>(total(sums.magnitude)),
            .soft_bits = block.count,
            .not_finite = 0,
            .saturated = total(sums.saturated),
            .zeros = total(sums.zeros) - padded,
            .compared = compares ? block.count : 0,
            .bit_errors = total(sums.wrong)};
}

// Floating-point numbers.

/// Vectors of virtual lanes that go through a block together, as registers have room for their sums.
constexpr std::size_t together = lanes == 8 ? 4 : 8;
static_assert(row_tree.lanes % (together * lanes) == 0);

using Words = hn::Vec<decltype(du)>;

struct NumberCounts {
    Words finite;
    Words saturated;
    Words zeros;
    Words wrong;
};

HWY_INLINE Words count(Words counter, hn::Mask<decltype(d)> mask) {
    return hn::Sub(counter, hn::BitCast(du, hn::VecFromMask(d, mask)));
}

HWY_INLINE std::uint64_t total(Words counter) {
    return hn::GetLane(hn::SumOfLanes(du, counter));
}

template <typename T>
HWY_INLINE Ops::V load_numbers(const std::byte* from) {
    if constexpr (std::is_same_v<T, half>) {
        const hn::Rebind<hwy::float16_t, decltype(d)> d16;
        const hn::RebindToUnsigned<decltype(d16)> du16;
        const auto bits = hn::LoadU(du16, reinterpret_cast<const std::uint16_t*>(from));
        return hn::PromoteTo(d, hn::BitCast(d16, bits));
    } else {
        return hn::LoadU(d, reinterpret_cast<const float*>(from));
    }
}

/// Sets where a decision is wrong.
HWY_INLINE hn::Mask<decltype(d)> compare(Ops::V values, const std::uint8_t* truth) {
    const hn::Rebind<std::uint8_t, decltype(d)> narrow;
    const auto bits = hn::PromoteTo(di, hn::LoadU(narrow, truth));
    const auto is_zero = hn::VecFromMask(di, hn::Eq(bits, hn::Zero(di)));
    const auto is_negative = hn::VecFromMask(d, hn::Lt(values, hn::Zero(d)));
    return hn::RebindMask(d, hn::Eq(is_zero, hn::BitCast(di, is_negative)));
}

/// In every turn of the virtual lanes, the vectors from lane `first` on.
template <typename T, bool compares>
HWY_INLINE void add_turns(const SoftBitBlock& turns, std::size_t first, MagnitudeLanes& to,
                          NumberCounts& counts) {
    const auto limit = hn::Set(d, saturation_of<T>());
    Ops::V sums[together];
    for (std::size_t k = 0; k < together; ++k)
        sums[k] = hn::Load(d, to.sums + first + k * lanes);
    NumberCounts here = counts;
    for (std::size_t i = first; i < turns.count; i += row_tree.lanes) {
        for (std::size_t k = 0; k < together; ++k) {
            const std::size_t at = i + k * lanes;
            const auto values = load_numbers<T>(turns.soft_bits + at * sizeof(T));
            prefetch(turns.soft_bits + at * sizeof(T));
            const auto magnitudes = hn::Abs(values);
            const auto finite = hn::Lt(magnitudes, hn::Inf(d));
            sums[k] = hn::Add(sums[k], hn::IfThenElseZero(finite, magnitudes));
            here.finite = count(here.finite, finite);
            here.saturated = count(here.saturated, hn::And(finite, hn::Ge(magnitudes, limit)));
            here.zeros = count(here.zeros, hn::Eq(magnitudes, hn::Zero(d)));
            if constexpr (compares)
                here.wrong = count(here.wrong, hn::And(finite, compare(values, turns.truth + at)));
        }
    }
    counts = here;
    for (std::size_t k = 0; k < together; ++k)
        hn::Store(sums[k], d, to.sums + first + k * lanes);
}

template <typename T, bool compares>
HWY_INLINE void add_whole_turns(const SoftBitBlock& turns, MagnitudeLanes& to, NumberCounts& counts) {
    for (std::size_t first = 0; first < row_tree.lanes; first += together * lanes)
        add_turns<T, compares>(turns, first, to, counts);
}

template <typename T, bool compares>
HWY_INLINE SoftBitSums sum_numbers(const SoftBitBlock& block) {
    const std::size_t rest = block.count % row_tree.lanes;
    const std::size_t whole = block.count - rest;
    MagnitudeLanes sums;
    const auto none = hn::Zero(du);
    NumberCounts counts = {none, none, none, none};
    add_whole_turns<T, compares>({block.soft_bits, block.truth, whole}, sums, counts);
    if (rest != 0) {
        T last[row_tree.lanes];
        std::uint8_t last_truth[row_tree.lanes] = {};
        // What is not finite adds to no sum.
        std::fill(last, last + row_tree.lanes, T(std::numeric_limits<float>::infinity()));
        std::memcpy(last, block.soft_bits + whole * sizeof(T), rest * sizeof(T));
        if (compares) std::memcpy(last_truth, block.truth + whole, rest);
        add_whole_turns<T, compares>({reinterpret_cast<const std::byte*>(last), last_truth, row_tree.lanes},
                                     sums, counts);
    }
    const std::uint64_t finite = total(counts.finite);
    return {.magnitude = sums.root(),
            .soft_bits = finite,
            .not_finite = block.count - finite,
            .saturated = total(counts.saturated),
            .zeros = total(counts.zeros),
            .compared = compares ? finite : 0,
            .bit_errors = total(counts.wrong)};
}

template <typename T>
SoftBitSums sum(const SoftBitBlock& block, int clip) {
    const bool compares = block.truth != nullptr;
    if constexpr (std::is_integral_v<T>) {
        return compares ? sum_integers<true>(block, clip) : sum_integers<false>(block, clip);
    } else {
        return compares ? sum_numbers<T, true>(block) : sum_numbers<T, false>(block);
    }
}

}  // namespace

extern constinit const SoftBitKernels soft_bit_kernels_of_target;
constinit const SoftBitKernels soft_bit_kernels_of_target = {{&sum<std::int8_t>, &sum<half>, &sum<float>}};

}  // namespace phy::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif

#if HWY_ONCE
namespace phy::detail {

const SoftBitKernels& soft_bit_kernels(const Backend& backend) {
    static constexpr KernelsByTarget<SoftBitKernels> by_target =
        PHY_ADDRESSES_BY_TARGET(soft_bit_kernels_of_target);
    return kernels_of(backend, scalar_soft_bit_kernels, by_target);
}

}  // namespace phy::detail
#endif
