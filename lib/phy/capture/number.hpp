#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "phy/core/half.hpp"
#include "phy/core/type_list.hpp"

namespace phy::detail {

/// The number types of captures.
enum class NumberKind { float16, float32, float64, int8, int16, int32 };

/// In the order of NumberKind.
using NumberTypes = TypeList<half, float, double, std::int8_t, std::int16_t, std::int32_t>;

inline constexpr auto all_number_kinds = all_enumerators<NumberKind, NumberTypes::size>;

template <typename Number>
inline constexpr auto number_kind_of = static_cast<NumberKind>(NumberTypes::index_of<Number>);

/// A number type as stored in a file.
struct NumberType {
    NumberKind kind = NumberKind::float32;
    std::endian order = std::endian::native;
    bool offset_binary = false;  ///< an integer stored unsigned, with half of its range added

    friend bool operator==(NumberType, NumberType) = default;
};

std::size_t size_of(NumberKind kind);
bool is_float(NumberKind kind);

/// "float16" and so on.
std::string_view to_string(NumberKind kind);

/// Numbers `stride` bytes apart.
template <typename Byte>
struct Strided {
    Byte* data;
    std::size_t stride;
};

/// Copies numbers and converts them to the byte order of this machine.
void copy_numbers(NumberType type, Strided<const std::byte> in, Strided<std::byte> out, std::size_t count);

/// Rounds numbers to binary32; integers are first divided by full_scale.
void numbers_to_float(NumberType type, double full_scale, Strided<const std::byte> in, Strided<std::byte> out,
                      std::size_t count);

}  // namespace phy::detail
