#include "phy/capture/number.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

namespace phy::hdf5 {

namespace {

/// Calls function with a value of the C++ type of that kind.
template <typename Function>
auto with_type_of(NumberKind kind, Function function) {
    return detail::with_enumerator<NumberTypes::size>(kind, [&](auto constant) {
        return function(NumberTypes::At<static_cast<std::size_t>(constant())>{});
    });
}

hid_t little_endian_type(NumberKind kind) {
    switch (kind) {
        case NumberKind::float16:
        case NumberKind::float32:
            return H5T_IEEE_F32LE;
        case NumberKind::float64:
            return H5T_IEEE_F64LE;
        case NumberKind::int8:
            return H5T_STD_I8LE;
        case NumberKind::int16:
            return H5T_STD_I16LE;
        case NumberKind::int32:
            break;
    }
    return H5T_STD_I32LE;
}

template <typename Number>
Number load(const std::byte* from, bool swap) {
    std::array<std::byte, sizeof(Number)> bytes;
    std::memcpy(bytes.data(), from, sizeof(Number));
    if (swap) std::ranges::reverse(bytes);
    return std::bit_cast<Number>(bytes);
}

/// Loads each number, and stores what function makes of it.
template <typename Function>
void transform_numbers(NumberType type, Strided<const std::byte> in, Strided<std::byte> out,
                       std::size_t count, Function function) {
    with_type_of(type.kind, [&](auto number) {
        const bool swap = type.order != std::endian::native;
        for (std::size_t i = 0; i < count; ++i) {
            const auto result = function(load<decltype(number)>(in.data + i * in.stride, swap));
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

TypeHandle hdf5_type(NumberType type) {
    TypeHandle result(H5Tcopy(little_endian_type(type.kind)));
    if (type.kind == NumberKind::float16) {
        // HDF5 1.10 has no name for binary16: sign, exponent and mantissa lie at bits 15, 10 and 0.
        H5Tset_fields(result, 15, 10, 5, 0, 10);
        H5Tset_size(result, 2);
        H5Tset_ebias(result, 15);
    }
    if (type.order == std::endian::big) H5Tset_order(result, H5T_ORDER_BE);
    return result;
}

std::optional<NumberType> number_type_of(hid_t type) {
    for (const auto order : {std::endian::native, std::endian::little, std::endian::big}) {
        for (const auto kind : all_number_kinds) {
            if (H5Tequal(type, hdf5_type({kind, order})) > 0) return NumberType{kind, order};
        }
    }
    return std::nullopt;
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

}  // namespace phy::hdf5
