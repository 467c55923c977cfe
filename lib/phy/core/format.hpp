#pragma once

#include <bit>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

#include "phy/core/export.hpp"
#include "phy/core/half.hpp"
#include "phy/core/type_list.hpp"

/// How IQ samples and soft bits are stored. The traits define each format once. For arrays whose format is
/// known at run time see SymbolView, SymbolSpan, SoftBitView and SoftBitSpan (view.hpp).
namespace phy {

/// One IQ sample in binary32. In all formats I comes first in memory, then Q.
using cf32 = std::complex<float>;

/// One IQ sample in binary16.
struct PHY_EXPORT cf16 {
    half re;
    half im;
    friend constexpr bool operator==(cf16, cf16) = default;
};

/// One IQ sample in 16-bit integers. Its value is the integer times the reciprocal of the full scale (default
/// 32768).
struct PHY_EXPORT ci16 {
    std::int16_t re;
    std::int16_t im;
    friend constexpr bool operator==(ci16, ci16) = default;
};

/// One IQ sample in 8-bit integers. Its value is the integer times the reciprocal of the full scale (default
/// 128).
struct PHY_EXPORT ci8 {
    std::int8_t re;
    std::int8_t im;
    friend constexpr bool operator==(ci8, ci8) = default;
};

// g++ takes the names of a scoped enumeration for shadows of types, which they are not.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wshadow"
#endif
/// How IQ samples are stored.
enum class SampleFormat { cf32, cf16, ci16, ci8 };
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

/// How soft bits are stored.
enum class SoftBitFormat { int8, float16, float32 };

namespace detail {

/// The traits of a sample format. The lists are in the order of the enumerators.
struct SampleFormatFacts {
    std::string_view name;
    float full_scale;  ///< default; samples are divided by it
};
inline constexpr SampleFormatFacts sample_format_facts[] = {
    {"cf32", 1.0F}, {"cf16", 1.0F}, {"ci16", 32768.0F}, {"ci8", 128.0F}};
using SampleTypes = TypeList<cf32, cf16, ci16, ci8>;
using ComponentTypes = TypeList<float, half, std::int16_t, std::int8_t>;

struct SoftBitFormatFacts {
    std::string_view name;
    float largest;  ///< max magnitude of a soft bit; for int8 LlrConfig::clip can lower it
};
inline constexpr SoftBitFormatFacts soft_bit_format_facts[] = {
    {"int8", 127.0F}, {"float16", 65504.0F}, {"float32", 0x1p64F}};
using SoftBitTypes = TypeList<std::int8_t, half, float>;

static_assert(SampleTypes::size == std::size(sample_format_facts) &&
              SampleTypes::size == ComponentTypes::size);
static_assert(SoftBitTypes::size == std::size(soft_bit_format_facts));

}  // namespace detail

inline constexpr auto all_sample_formats = detail::all_enumerators<SampleFormat, detail::SampleTypes::size>;
inline constexpr auto all_soft_bit_formats =
    detail::all_enumerators<SoftBitFormat, detail::SoftBitTypes::size>;

/// Size of one IQ sample in bytes: 8, 4, 4, 2.
constexpr std::size_t size_of(SampleFormat format) {
    return detail::SampleTypes::sizes[static_cast<std::size_t>(format)];
}

/// Size of one soft bit in bytes: 1, 2, 4.
constexpr std::size_t size_of(SoftBitFormat format) {
    return detail::SoftBitTypes::sizes[static_cast<std::size_t>(format)];
}

/// The full scale if none is given: 2^(bits-1) for integer samples, 1 for floating point samples.
constexpr float default_full_scale(SampleFormat format) {
    return detail::sample_format_facts[static_cast<std::size_t>(format)].full_scale;
}

/// "cf32", "cf16", "ci16", "ci8".
constexpr std::string_view to_string(SampleFormat format) {
    return detail::sample_format_facts[static_cast<std::size_t>(format)].name;
}

/// "int8", "float16", "float32".
constexpr std::string_view to_string(SoftBitFormat format) {
    return detail::soft_bit_format_facts[static_cast<std::size_t>(format)].name;
}

/// Inverses of to_string(); upper case is accepted. Throw ArgumentError, which lists the names.
PHY_EXPORT SampleFormat parse_sample_format(std::string_view name);
PHY_EXPORT SoftBitFormat parse_soft_bit_format(std::string_view name);

/// The C++ types of samples and of soft bits.
template <typename T>
concept Sample = detail::SampleTypes::contains<T>;
template <typename T>
concept SoftBit = detail::SoftBitTypes::contains<T>;

/// The format of a C++ type, and the C++ type of a format, at compile time.
template <Sample T>
inline constexpr auto sample_format_of = static_cast<SampleFormat>(detail::SampleTypes::index_of<T>);
template <SoftBit T>
inline constexpr auto soft_bit_format_of = static_cast<SoftBitFormat>(detail::SoftBitTypes::index_of<T>);
template <SampleFormat format>
using SampleOf = detail::SampleTypes::At<static_cast<std::size_t>(format)>;
template <SampleFormat format>
using ComponentOf = detail::ComponentTypes::At<static_cast<std::size_t>(format)>;
template <SoftBitFormat format>
using SoftBitOf = detail::SoftBitTypes::At<static_cast<std::size_t>(format)>;

/// Returns visit(std::integral_constant<Format, format>{}): a format known at run time becomes a constant.
template <typename Visitor>
constexpr decltype(auto) with_constant(SampleFormat format, Visitor&& visit) {
    return detail::with_enumerator<detail::SampleTypes::size>(format, std::forward<Visitor>(visit));
}
template <typename Visitor>
constexpr decltype(auto) with_constant(SoftBitFormat format, Visitor&& visit) {
    return detail::with_enumerator<detail::SoftBitTypes::size>(format, std::forward<Visitor>(visit));
}

namespace detail {

/// The bit pattern of a format's largest soft bit.
constexpr std::uint32_t bits_of_largest(SoftBitFormat format) {
    return with_constant(format, [](auto constant) -> std::uint32_t {
        using T = SoftBitOf<constant()>;
        const auto largest =
            static_cast<T>(soft_bit_format_facts[static_cast<std::size_t>(constant())].largest);
        if constexpr (sizeof(T) == 1)
            return std::bit_cast<std::uint8_t>(largest);
        else if constexpr (sizeof(T) == 2)
            return std::bit_cast<std::uint16_t>(largest);
        else
            return std::bit_cast<std::uint32_t>(largest);
    });
}

}  // namespace detail

}  // namespace phy
