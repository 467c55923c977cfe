#include "phy/capture/number.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <type_traits>

namespace phy::detail {

namespace {

/// Calls function with a value of the kind's C++ type.
template <typename Function>
auto with_type_of(NumberKind kind, Function function) {
    return with_enumerator<NumberTypes::size>(kind, [&](auto constant) {
        return function(NumberTypes::At<static_cast<std::size_t>(constant())>{});
    });
}

template <typename Number>
Number load(const std::byte* from, bool swap) {
    std::array<std::byte, sizeof(Number)> bytes;
    std::memcpy(bytes.data(), from, sizeof(Number));
    if (swap) std::ranges::reverse(bytes);
    return std::bit_cast<Number>(bytes);
}

/// Subtracts half of its range from an integer that was stored unsigned.
template <typename Number>
Number without_offset(Number number) {
    if constexpr (std::is_integral_v<Number>) {
        using Unsigned = std::make_unsigned_t<Number>;
        constexpr auto half = static_cast<Unsigned>(std::numeric_limits<Number>::min());
        return static_cast<Number>(static_cast<Unsigned>(number) ^ half);
    } else {
        return number;
    }
}

/// Loads each number and stores function(number).
template <typename Function>
void transform_numbers(NumberType type, Strided<const std::byte> in, Strided<std::byte> out,
                       std::size_t count, Function function) {
    with_type_of(type.kind, [&](auto number) {
        const bool swap = type.order != std::endian::native;
        for (std::size_t i = 0; i < count; ++i) {
            const auto stored = load<decltype(number)>(in.data + i * in.stride, swap);
            const auto result = function(type.offset_binary ? without_offset(stored) : stored);
            std::memcpy(out.data + i * out.stride, &result, sizeof(result));
        }
    });
}

}  // namespace

std::size_t size_of(NumberKind kind) {
    return NumberTypes::sizes[static_cast<std::size_t>(kind)];
}

bool is_float(NumberKind kind) {
    return with_type_of(kind, [](auto number) { return !std::is_integral_v<decltype(number)>; });
}

std::string_view to_string(NumberKind kind) {
    constexpr std::array<std::string_view, all_number_kinds.size()> names = {"float16", "float32", "float64",
                                                                             "int8",    "int16",   "int32"};
    return names[static_cast<std::size_t>(kind)];
}

void copy_numbers(NumberType type, Strided<const std::byte> in, Strided<std::byte> out, std::size_t count) {
    transform_numbers(type, in, out, count, [](auto number) { return number; });
}

void numbers_to_float(NumberType type, double full_scale, Strided<const std::byte> in, Strided<std::byte> out,
                      std::size_t count) {
    transform_numbers(type, in, out, count, [full_scale](auto number) {
        if constexpr (std::is_integral_v<decltype(number)>) {
            return static_cast<float>(static_cast<double>(number) / full_scale);
        } else {
            return static_cast<float>(number);
        }
    });
}

}  // namespace phy::detail
