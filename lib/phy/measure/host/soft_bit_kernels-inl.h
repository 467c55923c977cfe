// Sums over the soft bits of a block. The vector code uses their bits, as many per vector as fit. The scalar
// code uses their values, and is the reference for all instruction sets.
#if defined(PHY_MEASURE_SOFT_BIT_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PHY_MEASURE_SOFT_BIT_KERNELS_INL_H_
#undef PHY_MEASURE_SOFT_BIT_KERNELS_INL_H_
#else
#define PHY_MEASURE_SOFT_BIT_KERNELS_INL_H_
#endif

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>

#include "phy/measure/host/soft_bit_kernels.hpp"
#include "phy/simd/target-inl.h"

#ifdef HWY_TARGET_INCLUDE
#include <hwy/cache_control.h>

#include "phy/simd/load-inl.h"
#endif

PHY_BEFORE_NAMESPACE();
namespace phy::detail::PHY_TARGET {
namespace {

#ifdef HWY_TARGET_INCLUDE

/// By integer arithmetic, because the address may be beyond the array.
HWY_INLINE void prefetch(const void* from) {
    const auto address = reinterpret_cast<std::uintptr_t>(from) + prefetch_distance;
    hwy::Prefetch(reinterpret_cast<const std::uint8_t*>(address));
}

// Integers.

constexpr hn::Repartition<std::int8_t, decltype(d)> di8;
constexpr hn::Repartition<std::uint8_t, decltype(d)> du8;
constexpr hn::Repartition<std::uint64_t, decltype(d)> du64;
constexpr std::size_t bytes_of_vector = 4 * lanes;

/// An 8-bit counter may be full after this many vectors.
constexpr std::size_t max_vectors = 255;

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

/// vectors is at most max_vectors.
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
            // If both are equal the decision is wrong.
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
    for (std::size_t done = 0; done < vectors; done += max_vectors) {
        const std::size_t first = done * bytes_of_vector;
        add_integers<compares>(soft_bits + first, compares ? block.truth + first : nullptr,
                               HWY_MIN(max_vectors, vectors - done), clip, sums);
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

// Floating-point numbers: only the sum uses values; all counts use bits, whose order is that of magnitudes.

/// Vectors of virtual lanes that are processed together: registers have space for this many sums.
constexpr std::size_t together = lanes == 8 ? 4 : 8;
static_assert(row_tree.lanes % (together * lanes) == 0);

/// Soft bits before the next vectors of virtual lanes follow: few, so that memory is read in order.
constexpr std::size_t swept = together * lanes == row_tree.lanes ? row_tree.block : 4 * row_tree.lanes;

/// The bits of soft bits, as many per vector as fit.
template <typename T>
using Bits =
    hn::Repartition<std::conditional_t<std::is_same_v<T, half>, std::uint16_t, std::uint32_t>, decltype(d)>;
template <typename T>
using SignedBits = hn::RebindToSigned<Bits<T>>;
template <typename T>
constexpr std::size_t bits_lanes = 4 * lanes / sizeof(T);

template <typename T>
constexpr auto sign_bit = static_cast<hn::TFromD<Bits<T>>>(1ULL << (8 * sizeof(T) - 1));
template <typename T>
constexpr auto infinity = static_cast<hn::TFromD<SignedBits<T>>>(std::is_same_v<T, half> ? 0x7C00
                                                                                         : 0x7F800000);
template <typename T>
constexpr auto saturated_from =
    static_cast<hn::TFromD<SignedBits<T>>>(bits_of_largest(soft_bit_format_of<T>));

template <typename T>
struct NumberCounts {
    using Counters = hn::Vec<Bits<T>>;
    hn::Vec<SignedBits<T>> top;  ///< the largest magnitude
    Counters finite;
    Counters saturated;
    Counters zeros;
    Counters right;
};

template <typename T>
HWY_INLINE hn::Vec<Bits<T>> count(hn::Vec<Bits<T>> counter, hn::Mask<SignedBits<T>> mask) {
    return hn::Sub(counter, hn::BitCast(Bits<T>(), hn::VecFromMask(SignedBits<T>(), mask)));
}

template <typename T>
HWY_INLINE std::uint64_t total_of(hn::Vec<Bits<T>> counter) {
    HWY_ALIGN hn::TFromD<Bits<T>> counts[bits_lanes<T>];
    hn::Store(counter, Bits<T>(), counts);
    std::uint64_t sum = 0;
    for (const auto of_lane : counts)
        sum += of_lane;
    return sum;
}

/// Adds a vector of numbers to the one or two vectors of sums that they fill.
HWY_INLINE void add_to(Ops::V* sums, hn::Vec<Bits<float>> magnitudes) {
    sums[0] = hn::Add(sums[0], hn::BitCast(d, magnitudes));
}
HWY_INLINE void add_to(Ops::V* sums, hn::Vec<Bits<half>> magnitudes) {
    const hn::Half<Bits<half>> half_vector;
    const hn::Rebind<hwy::float16_t, decltype(d)> d16;
    const auto lower = hn::LowerHalf(half_vector, magnitudes);
    const auto upper = hn::UpperHalf(half_vector, magnitudes);
    sums[0] = hn::Add(sums[0], hn::PromoteTo(d, hn::BitCast(d16, lower)));
    sums[1] = hn::Add(sums[1], hn::PromoteTo(d, hn::BitCast(d16, upper)));
}

/// Returns a mask of right decisions.
template <typename T>
HWY_INLINE hn::Mask<SignedBits<T>> compare(hn::Vec<Bits<T>> bits, const std::uint8_t* truth) {
    const SignedBits<T> as_signed;
    const hn::Rebind<std::uint8_t, Bits<T>> narrow;
    const auto sent = hn::PromoteTo(as_signed, hn::LoadU(narrow, truth));
    // The sign is inverted, so that minus zero is not above zero.
    const auto flipped = hn::BitCast(as_signed, hn::Xor(bits, hn::Set(Bits<T>(), sign_bit<T>)));
    return hn::Xor(hn::Eq(sent, hn::Zero(as_signed)), hn::Gt(flipped, hn::Zero(as_signed)));
}

/// Ordinary soft bits are below saturation and need no checks.
enum class Kind { ordinary, any };

template <typename T, Kind kind, bool compares>
HWY_INLINE void add_vector(const std::byte* soft_bits, const std::uint8_t* truth, Ops::V* sums,
                           NumberCounts<T>& counts) {
    const Bits<T> as_bits;
    const SignedBits<T> as_signed;
    const auto bits = hn::LoadU(as_bits, reinterpret_cast<const hn::TFromD<Bits<T>>*>(soft_bits));
    prefetch(soft_bits);
    const auto magnitudes = hn::AndNot(hn::Set(as_bits, sign_bit<T>), bits);
    const auto ordered = hn::BitCast(as_signed, magnitudes);
    counts.zeros = count<T>(counts.zeros, hn::Eq(ordered, hn::Zero(as_signed)));
    if constexpr (kind == Kind::ordinary) {
        add_to(sums, magnitudes);
        counts.top = hn::Max(counts.top, ordered);
        if constexpr (compares) counts.right = count<T>(counts.right, compare<T>(bits, truth));
    } else {
        const auto finite = hn::Lt(ordered, hn::Set(as_signed, infinity<T>));
        const auto unsaturated = hn::Lt(ordered, hn::Set(as_signed, saturated_from<T>));
        add_to(sums, hn::BitCast(as_bits, hn::IfThenElseZero(finite, ordered)));
        counts.finite = count<T>(counts.finite, finite);
        counts.saturated = count<T>(counts.saturated, hn::Xor(finite, unsaturated));
        if constexpr (compares)
            counts.right = count<T>(counts.right, hn::And(finite, compare<T>(bits, truth)));
    }
}

/// Adds, in every turn of the virtual lanes, the vectors from lane `first` on.
template <typename T, Kind kind, bool compares>
HWY_INLINE void add_turns(const SoftBitBlock& turns, std::size_t first, MagnitudeLanes& to,
                          NumberCounts<T>& counts) {
    Ops::V sums[together];
    for (std::size_t k = 0; k < together; ++k)
        sums[k] = hn::Load(d, to.sums + first + k * lanes);
    NumberCounts<T> here = counts;
    for (std::size_t i = first; i < turns.count; i += row_tree.lanes) {
        for (std::size_t k = 0; k < together; k += bits_lanes<T> / lanes) {
            const std::size_t at = i + k * lanes;
            add_vector<T, kind, compares>(turns.soft_bits + at * sizeof(T),
                                          compares ? turns.truth + at : nullptr, sums + k, here);
        }
    }
    counts = here;
    for (std::size_t k = 0; k < together; ++k)
        hn::Store(sums[k], d, to.sums + first + k * lanes);
}

template <typename T, Kind kind, bool compares>
HWY_INLINE void add_whole_turns(const SoftBitBlock& turns, MagnitudeLanes& to, NumberCounts<T>& counts) {
    for (std::size_t i = 0; i < turns.count; i += swept) {
        const SoftBitBlock here = {turns.soft_bits + i * sizeof(T), compares ? turns.truth + i : nullptr,
                                   HWY_MIN(swept, turns.count - i)};
        for (std::size_t first = 0; first < row_tree.lanes; first += together * lanes)
            add_turns<T, kind, compares>(here, first, to, counts);
    }
}

template <typename T, Kind kind, bool compares>
HWY_INLINE SoftBitSums sum_numbers(const SoftBitBlock& block) {
    const std::size_t rest = block.count % row_tree.lanes;
    const std::size_t whole = block.count - rest;
    const std::uint64_t padded = rest != 0 ? row_tree.lanes - rest : 0;
    MagnitudeLanes sums;
    const auto none = hn::Zero(Bits<T>());
    NumberCounts<T> counts = {hn::Zero(SignedBits<T>()), none, none, none, none};
    add_whole_turns<T, kind, compares>({block.soft_bits, block.truth, whole}, sums, counts);
    if (rest != 0) {
        T last[row_tree.lanes] = {};
        std::uint8_t last_truth[row_tree.lanes] = {};
        std::memcpy(last, block.soft_bits + whole * sizeof(T), rest * sizeof(T));
        if (compares) std::memcpy(last_truth, block.truth + whole, rest);
        add_whole_turns<T, kind, compares>(
            {reinterpret_cast<const std::byte*>(last), last_truth, row_tree.lanes}, sums, counts);
    }
    if constexpr (kind == Kind::ordinary) {
        const auto below = hn::Lt(counts.top, hn::Set(SignedBits<T>(), saturated_from<T>));
        if (!hn::AllTrue(SignedBits<T>(), below)) return sum_numbers<T, Kind::any, compares>(block);
    }
    const std::uint64_t finite = kind == Kind::ordinary ? block.count : total_of<T>(counts.finite) - padded;
    return {.magnitude = sums.root(),
            .soft_bits = finite,
            .not_finite = block.count - finite,
            .saturated = total_of<T>(counts.saturated),
            .zeros = total_of<T>(counts.zeros) - padded,
            .compared = compares ? finite : 0,
            .bit_errors = compares ? finite + padded - total_of<T>(counts.right) : 0};
}

template <typename T>
SoftBitSums sum(const SoftBitBlock& block, int clip) {
    const bool compares = block.truth != nullptr;
    if constexpr (std::is_integral_v<T>) {
        return compares ? sum_integers<true>(block, clip) : sum_integers<false>(block, clip);
    } else {
        return compares ? sum_numbers<T, Kind::ordinary, true>(block)
                        : sum_numbers<T, Kind::ordinary, false>(block);
    }
}

#else

template <typename T>
T load(const SoftBitBlock& block, std::size_t index) {
    T value;
    std::memcpy(&value, block.soft_bits + index * sizeof value, sizeof value);
    return value;
}

void compare(const SoftBitBlock& block, std::size_t index, bool is_negative, SoftBitSums& sums) {
    if (block.truth == nullptr) return;
    ++sums.compared;
    sums.bit_errors += is_negative != (block.truth[index] != 0) ? 1 : 0;
}

SoftBitSums sum_integers(const SoftBitBlock& block, int clip) {
    SoftBitSums sums;
    int magnitude = 0;
    for (std::size_t i = 0; i < block.count; ++i) {
        const auto soft_bit = load<std::int8_t>(block, i);
        magnitude += std::abs(soft_bit);
        sums.saturated += std::abs(soft_bit) == clip ? 1 : 0;
        sums.zeros += soft_bit == 0 ? 1 : 0;
        compare(block, i, soft_bit < 0, sums);
    }
    sums.magnitude = magnitude;
    sums.soft_bits = block.count;
    return sums;
}

template <typename T>
SoftBitSums sum_numbers(const SoftBitBlock& block) {
    SoftBitSums sums;
    MagnitudeLanes lanes;
    for (std::size_t i = 0; i < block.count; ++i) {
        const auto soft_bit = static_cast<float>(load<T>(block, i));
        if (!std::isfinite(soft_bit)) {
            ++sums.not_finite;
            continue;
        }
        ++sums.soft_bits;
        lanes.sums[i % row_tree.lanes] += std::fabs(soft_bit);
        sums.saturated += std::fabs(soft_bit) >= saturation_of<T>() ? 1 : 0;
        sums.zeros += soft_bit == 0.0F ? 1 : 0;
        compare(block, i, soft_bit < 0.0F, sums);
    }
    sums.magnitude = lanes.root();
    return sums;
}

template <typename T>
SoftBitSums sum(const SoftBitBlock& block, int clip) {
    if constexpr (std::is_integral_v<T>) return sum_integers(block, clip);
    return sum_numbers<T>(block);
}

#endif

constexpr SoftBitKernels kernels = {{&sum<std::int8_t>, &sum<half>, &sum<float>}};

}  // namespace
}  // namespace phy::detail::PHY_TARGET
PHY_AFTER_NAMESPACE();
#endif
