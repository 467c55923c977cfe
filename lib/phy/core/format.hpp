#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "phy/core/half.hpp"

namespace phy {

/// One IQ sample: in-phase first, quadrature second, interleaved in memory.
using cf32 = std::complex<float>;

/// IQ in binary16.
struct cf16 {
    half re;
    half im;
    friend constexpr bool operator==(cf16, cf16) = default;
};

/// IQ in 16-bit integers; the value is the integer times the reciprocal of a full scale (default 32768).
struct ci16 {
    std::int16_t re;
    std::int16_t im;
    friend constexpr bool operator==(ci16, ci16) = default;
};

/// IQ in 8-bit integers; the value is the integer times the reciprocal of a full scale (default 128).
struct ci8 {
    std::int8_t re;
    std::int8_t im;
    friend constexpr bool operator==(ci8, ci8) = default;
};

/// How IQ samples are stored.
enum class SampleFormat { cf32, cf16, ci16, ci8 };

inline constexpr std::array all_sample_formats = {SampleFormat::cf32, SampleFormat::cf16, SampleFormat::ci16,
                                                  SampleFormat::ci8};

/// How soft bits are stored.
enum class SoftBitFormat { int8, float16, float32 };

inline constexpr std::array all_soft_bit_formats = {SoftBitFormat::int8, SoftBitFormat::float16,
                                                    SoftBitFormat::float32};

/// Bytes of one IQ sample: 8, 4, 4, 2.
constexpr std::size_t size_of(SampleFormat format) {
    constexpr std::array<std::size_t, all_sample_formats.size()> sizes = {8, 4, 4, 2};
    return sizes[static_cast<std::size_t>(format)];
}

/// Bytes of one soft bit: 1, 2, 4.
constexpr std::size_t size_of(SoftBitFormat format) {
    constexpr std::array<std::size_t, all_soft_bit_formats.size()> sizes = {1, 2, 4};
    return sizes[static_cast<std::size_t>(format)];
}

/// The full scale by which integer samples are divided unless another is given: 2^(bits-1), and 1 for
/// floating point samples.
constexpr float default_full_scale(SampleFormat format) {
    constexpr std::array<float, all_sample_formats.size()> scales = {1.0F, 1.0F, 32768.0F, 128.0F};
    return scales[static_cast<std::size_t>(format)];
}

/// "cf32", "cf16", "ci16", "ci8".
constexpr std::string_view to_string(SampleFormat format) {
    constexpr std::array<std::string_view, all_sample_formats.size()> names = {"cf32", "cf16", "ci16", "ci8"};
    return names[static_cast<std::size_t>(format)];
}

/// "int8", "float16", "float32".
constexpr std::string_view to_string(SoftBitFormat format) {
    constexpr std::array<std::string_view, all_soft_bit_formats.size()> names = {"int8", "float16",
                                                                                 "float32"};
    return names[static_cast<std::size_t>(format)];
}

/// Inverses of to_string; throw ArgumentError that lists the names.
SampleFormat parse_sample_format(std::string_view name);
SoftBitFormat parse_soft_bit_format(std::string_view name);

/// The format of a C++ type, known at compile time; types that are no format have none.
template <typename T>
inline constexpr SampleFormat sample_format_of = T::no_such_sample_format;
template <>
inline constexpr SampleFormat sample_format_of<cf32> = SampleFormat::cf32;
template <>
inline constexpr SampleFormat sample_format_of<cf16> = SampleFormat::cf16;
template <>
inline constexpr SampleFormat sample_format_of<ci16> = SampleFormat::ci16;
template <>
inline constexpr SampleFormat sample_format_of<ci8> = SampleFormat::ci8;

template <typename T>
inline constexpr SoftBitFormat soft_bit_format_of = T::no_such_soft_bit_format;
template <>
inline constexpr SoftBitFormat soft_bit_format_of<std::int8_t> = SoftBitFormat::int8;
template <>
inline constexpr SoftBitFormat soft_bit_format_of<half> = SoftBitFormat::float16;
template <>
inline constexpr SoftBitFormat soft_bit_format_of<float> = SoftBitFormat::float32;

}  // namespace phy
