#include "phy/capture/hdf5/hdf5_type.hpp"

#include <array>
#include <bit>
#include <string>

namespace phy::hdf5 {

namespace {

using detail::ElementType;

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

TypeHandle member_type(hid_t compound, unsigned index) {
    return TypeHandle(H5Tget_member_type(compound, index));
}

std::string describe_integer(hid_t type) {
    const std::string sign = H5Tget_sign(type) == H5T_SGN_NONE ? "uint" : "int";
    return sign + std::to_string(H5Tget_precision(type));
}

std::string describe_type(hid_t type);

std::string describe_compound(hid_t type) {
    const int members = H5Tget_nmembers(type);
    if (members != 2) return "compound of " + std::to_string(members) + " members";
    return "compound of " + describe_type(member_type(type, 0)) + " and " +
           describe_type(member_type(type, 1));
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

std::optional<std::array<ElementType::Member, 2>> pair_of(hid_t type) {
    if (H5Tget_class(type) != H5T_COMPOUND || H5Tget_nmembers(type) != 2) return std::nullopt;
    const auto first = number_type_of(member_type(type, 0));
    const auto second = number_type_of(member_type(type, 1));
    if (!first || !second) return std::nullopt;
    return std::array<ElementType::Member, 2>{
        {{*first, H5Tget_member_offset(type, 0)}, {*second, H5Tget_member_offset(type, 1)}}};
}

}  // namespace

std::optional<NumberType> number_type_of(hid_t type) {
    for (const auto order : {std::endian::native, std::endian::little, std::endian::big}) {
        for (const auto kind : all_number_kinds) {
            if (H5Tequal(type, hdf5_type({kind, order})) > 0) return NumberType{kind, order};
        }
    }
    return std::nullopt;
}

ElementType element_type_of(hid_t type) {
    return {.bytes = H5Tget_size(type),
            .text = describe_type(type),
            .number = number_type_of(type),
            .pair = pair_of(type),
            .is_uint8 = H5Tequal(type, H5T_NATIVE_UINT8) > 0};
}

TypeHandle hdf5_type(NumberType type) {
    TypeHandle result(H5Tcopy(little_endian_type(type.kind)));
    if (type.kind == NumberKind::float16) {
        // HDF5 1.10 has no name for binary16: sign, exponent and mantissa are at bits 15, 10 and 0.
        H5Tset_fields(result, 15, 10, 5, 0, 10);
        H5Tset_size(result, 2);
        H5Tset_ebias(result, 15);
    }
    if (type.order == std::endian::big) H5Tset_order(result, H5T_ORDER_BE);
    return result;
}

TypeHandle iq_type(SampleFormat format) {
    const TypeHandle number = hdf5_type({.kind = number_kind(format)});
    TypeHandle compound(H5Tcreate(H5T_COMPOUND, size_of(format)));
    H5Tinsert(compound, "r", 0, number);
    H5Tinsert(compound, "i", size_of(format) / 2, number);
    return compound;
}

}  // namespace phy::hdf5
