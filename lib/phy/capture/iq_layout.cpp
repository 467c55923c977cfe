#include "phy/capture/iq_layout.hpp"

#include <algorithm>

namespace phy::detail {

namespace {

std::optional<IqLayout> recognise_pair(const ElementType& type) {
    const auto& [first, second] = *type.pair;
    if (first.number != second.number) return std::nullopt;
    const IqLayout layout = {.kind = IqLayout::Kind::compound,
                             .number = first.number,
                             .elements_per_symbol = 1,
                             .symbol_bytes = type.bytes,
                             .offset_i = first.offset,
                             .offset_q = second.offset};
    // HDF5 does not check the offsets in a damaged file.
    const std::size_t end = std::max(layout.offset_i, layout.offset_q) + size_of(layout.number.kind);
    return end <= layout.symbol_bytes ? std::optional(layout) : std::nullopt;
}

IqLayout layout_of_real_signal(NumberType number) {
    return {.kind = IqLayout::Kind::real,
            .number = number,
            .elements_per_symbol = 1,
            .symbol_bytes = size_of(number.kind)};
}

std::optional<IqLayout> recognise_numbers(const ElementType& type, const Dimensions& dimensions,
                                          bool interleaved) {
    const bool trailing = dimensions.size() >= 2 && dimensions.back() == 2;
    std::size_t odd_dimensions = 0;
    for (const std::uint64_t dimension : dimensions)
        odd_dimensions += dimension % 2;
    const bool even_size = odd_dimensions < dimensions.size();
    if (interleaved ? !even_size : !trailing) return std::nullopt;
    if (!type.number) return std::nullopt;
    const NumberType number = *type.number;
    return IqLayout{.kind = trailing ? IqLayout::Kind::trailing : IqLayout::Kind::interleaved,
                    .number = number,
                    .elements_per_symbol = 2,
                    .symbol_bytes = 2 * size_of(number.kind),
                    .offset_i = 0,
                    .offset_q = size_of(number.kind)};
}

}  // namespace

NumberKind number_kind(SampleFormat format) {
    return with_constant(format, [](auto constant) { return number_kind_of<ComponentOf<constant()>>; });
}

std::optional<IqLayout> recognise_iq(const ElementType& type, const Dimensions& dimensions,
                                     bool interleaved) {
    if (type.is_real_signal && type.number && !interleaved) return layout_of_real_signal(*type.number);
    if (type.pair) return interleaved ? std::nullopt : recognise_pair(type);
    return recognise_numbers(type, dimensions, interleaved);
}

std::string_view expected_iq(bool interleaved) {
    return interleaved
               ? "an even count of float16, float32, float64, int8, int16 or int32"
               : "a compound of two numbers of one type or a last dimension of 2, of float16, float32, "
                 "float64, int8, int16 or int32";
}

std::string describe(const ElementType& type, const Dimensions& dimensions) {
    std::string shape;
    for (const std::uint64_t dimension : dimensions)
        shape.append(shape.empty() ? " [" : ", ").append(std::to_string(dimension));
    return type.text + shape + (shape.empty() ? "" : "]");
}

std::string describe(const IqLayout& layout) {
    const std::string number =
        std::string(layout.number.offset_binary ? "u" : "").append(to_string(layout.number.kind));
    switch (layout.kind) {
        case IqLayout::Kind::compound:
            return "compound of " + number;
        case IqLayout::Kind::trailing:
            return number + " with a last dimension of 2";
        case IqLayout::Kind::real:
            return "real " + number + ", Q is 0";
        case IqLayout::Kind::interleaved:
            break;
    }
    return "interleaved " + number;
}

SampleFormat delivered_format(NumberKind kind) {
    for (const SampleFormat format : all_sample_formats) {
        if (number_kind(format) == kind) return format;
    }
    return SampleFormat::cf32;
}

bool is_delivered_as_stored(const IqLayout& layout) {
    const NumberKind kind = layout.number.kind;
    const std::size_t number_bytes = size_of(kind);
    const bool converted = delivered_format(kind) == SampleFormat::cf32 && kind != NumberKind::float32;
    const bool swapped = layout.number.order != std::endian::native && number_bytes > 1;
    const bool packed =
        layout.offset_i == 0 && layout.offset_q == number_bytes && layout.symbol_bytes == 2 * number_bytes;
    return packed && !converted && !swapped && !layout.number.offset_binary;
}

void unpack(const IqLayout& layout, double full_scale, const std::byte* stored, SymbolSpan symbols) {
    const std::size_t delivered_bytes = size_of(symbols.format());
    const auto unpack_component = [&](std::size_t offset_in, std::size_t offset_out) {
        const Strided<const std::byte> in{stored + offset_in, layout.symbol_bytes};
        const Strided<std::byte> out{symbols.data() + offset_out, delivered_bytes};
        if (symbols.format() == SampleFormat::cf32) {
            numbers_to_float(layout.number, full_scale, in, out, symbols.size());
        } else {
            copy_numbers(layout.number, in, out, symbols.size());
        }
    };
    if (layout.kind == IqLayout::Kind::real) {
        std::fill_n(symbols.data(), symbols.size() * delivered_bytes, std::byte{0});
        return unpack_component(0, 0);
    }
    unpack_component(layout.offset_i, 0);
    unpack_component(layout.offset_q, delivered_bytes / 2);
}

}  // namespace phy::detail
