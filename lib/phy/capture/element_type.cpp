#include "phy/capture/element_type.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace phy::detail {

std::optional<NumberType> parse_number_type(std::string_view name, std::endian order) {
    struct Named {
        std::string_view name;
        NumberKind kind;
        bool offset_binary;
    };
    static constexpr std::array<Named, 9> all = {{{"f64", NumberKind::float64, false},
                                                  {"f32", NumberKind::float32, false},
                                                  {"f16", NumberKind::float16, false},
                                                  {"i32", NumberKind::int32, false},
                                                  {"i16", NumberKind::int16, false},
                                                  {"i8", NumberKind::int8, false},
                                                  {"u32", NumberKind::int32, true},
                                                  {"u16", NumberKind::int16, true},
                                                  {"u8", NumberKind::int8, true}}};
    const auto* const found = std::ranges::find(all, name, &Named::name);
    if (found == all.end()) return std::nullopt;
    return NumberType{.kind = found->kind, .order = order, .offset_binary = found->offset_binary};
}

ElementType pair_type(NumberType number, std::string_view text) {
    const std::size_t bytes = size_of(number.kind);
    return {.bytes = 2 * bytes,
            .text = std::string(text),
            .pair = std::array<ElementType::Member, 2>{{{number, 0}, {number, bytes}}}};
}

std::optional<ElementType> parse_sample_type(std::string_view name) {
    if (name.empty() || (name.front() != 'c' && name.front() != 'r')) return std::nullopt;
    const bool is_complex = name.front() == 'c';
    std::string_view number = name.substr(1);
    const bool is_big = number.ends_with("_be");
    if (is_big || number.ends_with("_le")) number.remove_suffix(3);
    const auto type = parse_number_type(number, is_big ? std::endian::big : std::endian::little);
    if (!type) return std::nullopt;
    if (is_complex) return pair_type(*type, name);
    return ElementType{
        .bytes = size_of(type->kind), .text = std::string(name), .number = type, .is_real_signal = true};
}

}  // namespace phy::detail
