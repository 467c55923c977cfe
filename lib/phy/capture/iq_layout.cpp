#include "phy/capture/iq_layout.hpp"

#include <algorithm>

namespace phy::hdf5 {

namespace {

TypeHandle member_type(hid_t compound, unsigned index) {
    return TypeHandle(H5Tget_member_type(compound, index));
}

std::optional<IqLayout> recognise_compound(hid_t type) {
    if (H5Tget_nmembers(type) != 2) return std::nullopt;
    const auto first = number_type_of(member_type(type, 0));
    const auto second = number_type_of(member_type(type, 1));
    if (!first || first != second) return std::nullopt;
    const IqLayout layout = {.kind = IqLayout::Kind::compound,
                             .number = *first,
                             .elements_per_symbol = 1,
                             .symbol_bytes = H5Tget_size(type),
                             .offset_i = H5Tget_member_offset(type, 0),
                             .offset_q = H5Tget_member_offset(type, 1)};
    // HDF5 takes the offsets of a damaged file for good.
    const std::size_t end = std::max(layout.offset_i, layout.offset_q) + size_of(first->kind);
    return end <= layout.symbol_bytes ? std::optional(layout) : std::nullopt;
}

std::optional<IqLayout> recognise_real(hid_t type, const Dimensions& dimensions, bool interleaved) {
    const bool trailing = dimensions.size() >= 2 && dimensions.back() == 2;
    std::size_t odd_dimensions = 0;
    for (const hsize_t dimension : dimensions)
        odd_dimensions += dimension % 2;
    const bool even_size = odd_dimensions < dimensions.size();
    if (interleaved ? !even_size : !trailing) return std::nullopt;
    const auto number = number_type_of(type);
    if (!number) return std::nullopt;
    return IqLayout{.kind = trailing ? IqLayout::Kind::trailing : IqLayout::Kind::interleaved,
                    .number = *number,
                    .elements_per_symbol = 2,
                    .symbol_bytes = 2 * size_of(number->kind),
                    .offset_i = 0,
                    .offset_q = size_of(number->kind)};
}

std::string describe_integer(hid_t type) {
    const std::string sign = H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int";
    return sign + std::to_string(H5Tget_precision(type));
}

std::string describe_compound(hid_t type) {
    const int members = H5Tget_nmembers(type);
    if (members != 2) return "compound of " + std::to_string(members) + " members";
    return "compound of " + describe(member_type(type, 0), {}) + " and " + describe(member_type(type, 1), {});
}

std::string describe_type(hid_t type) {
    if (const auto number = number_type_of(type)) {
        const bool big = number->order == std::endian::big && size_of(number->kind) > 1;
        return std::string(big ? "big-endian " : "") + std::string(to_string(number->kind));
    }
    switch (H5Tget_class(type)) {
        case H5T_INTEGER:
            return describe_integer(type);
        case H5T_FLOAT:
            return std::to_string(H5Tget_size(type)) + "-byte float of another format";
        case H5T_STRING:
            return "text";
        case H5T_COMPOUND:
            return describe_compound(type);
        case H5T_ENUM:
            return "enumeration";
        case H5T_ARRAY:
            return "array type";
        case H5T_VLEN:
            return "variable-length type";
        case H5T_REFERENCE:
            return "reference";
        case H5T_OPAQUE:
            return "opaque type";
        default:
            return "unknown type";
    }
}

}  // namespace

NumberKind number_kind(SampleFormat format) {
    return with_constant(format, [](auto constant) { return number_kind_of<ComponentOf<constant()>>; });
}

std::optional<IqLayout> recognise_iq(hid_t type, const Dimensions& dimensions, bool interleaved) {
    const bool compound = H5Tget_class(type) == H5T_COMPOUND;
    if (compound && interleaved) return std::nullopt;
    return compound ? recognise_compound(type) : recognise_real(type, dimensions, interleaved);
}

std::string_view expected_iq(bool interleaved) {
    return interleaved
               ? "an even count of float16, float32, float64, int8, int16 or int32"
               : "a compound of two numbers of one type or a last dimension of 2, of float16, float32, "
                 "float64, int8, int16 or int32";
}

std::string describe(hid_t type, const Dimensions& dimensions) {
    std::string shape;
    for (const hsize_t dimension : dimensions)
        shape.append(shape.empty() ? " [" : ", ").append(std::to_string(dimension));
    return describe_type(type) + shape + (shape.empty() ? "" : "]");
}

std::string describe(const IqLayout& layout) {
    const std::string number(to_string(layout.number.kind));
    switch (layout.kind) {
        case IqLayout::Kind::compound:
            return "compound of " + number;
        case IqLayout::Kind::trailing:
            return number + " with a last dimension of 2";
        case IqLayout::Kind::interleaved:
            break;
    }
    return "interleaved " + number;
}

TypeHandle iq_type(SampleFormat format) {
    const TypeHandle number = hdf5_type({.kind = number_kind(format)});
    TypeHandle compound(H5Tcreate(H5T_COMPOUND, size_of(format)));
    H5Tinsert(compound, "r", 0, number);
    H5Tinsert(compound, "i", size_of(format) / 2, number);
    return compound;
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
    return packed && !converted && !swapped;
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
    unpack_component(layout.offset_i, 0);
    unpack_component(layout.offset_q, delivered_bytes / 2);
}

}  // namespace phy::hdf5
