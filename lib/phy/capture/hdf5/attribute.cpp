#include "phy/capture/hdf5/attribute.hpp"

#include "phy/capture/hdf5/stored_text.hpp"

namespace phy::hdf5 {

namespace {

std::string expectation(const char* name, std::string_view expected) {
    return std::string("attribute ") + name + ": expected " + std::string(expected);
}

AttributeHandle open_attribute(hid_t object, const char* name, std::string_view subject) {
    if (H5Aexists(object, name) <= 0) return {};
    return AttributeHandle(
        checked(H5Aopen(object, name, H5P_DEFAULT), subject, std::string("attribute ") + name));
}

bool has_one_value(hid_t attribute) {
    const SpaceHandle space(H5Aget_space(attribute));
    return H5Sget_simple_extent_npoints(space) == 1;
}

bool is_text(hid_t attribute, hid_t type) {
    return H5Tget_class(type) == H5T_STRING && has_one_value(attribute);
}

/// Variable-length text in memory belongs to HDF5.
struct HdfText {
    ~HdfText() { H5free_memory(data); }
    char* data = nullptr;
};

herr_t read_variable_length(hid_t attribute, hid_t type, std::string& text) {
    HdfText memory;
    const herr_t status = H5Aread(attribute, type, &memory.data);
    if (status >= 0 && memory.data != nullptr) text = memory.data;
    return status;
}

herr_t read_fixed_length(hid_t attribute, hid_t type, std::string& text) {
    text.resize(H5Tget_size(type));
    const herr_t status = H5Aread(attribute, type, text.data());
    text.resize(std::min(text.find('\0'), text.size()));
    text.resize(text.find_last_not_of(' ') + 1);
    return status;
}

void write_values(hid_t object, const char* name, hid_t type, hid_t space, const void* value,
                  std::string_view subject) {
    const std::string problem = std::string("attribute ") + name + " cannot be written";
    const AttributeHandle attribute(
        checked(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), subject, problem));
    checked(H5Awrite(attribute, type, value), subject, problem);
}

void write_value(hid_t object, const char* name, hid_t type, const void* value, std::string_view subject) {
    const SpaceHandle space(H5Screate(H5S_SCALAR));
    write_values(object, name, type, space, value, subject);
}

}  // namespace

std::optional<double> read_number(hid_t object, const char* name, std::string_view subject) {
    const AttributeHandle attribute = open_attribute(object, name, subject);
    if (attribute < 0) return std::nullopt;
    const TypeHandle type(H5Aget_type(attribute));
    const H5T_class_t type_class = H5Tget_class(type);
    if ((type_class != H5T_INTEGER && type_class != H5T_FLOAT) || !has_one_value(attribute))
        throw file_error(subject, expectation(name, "one number"));
    double value = 0.0;
    checked(H5Aread(attribute, H5T_NATIVE_DOUBLE, &value), subject, expectation(name, "one number"));
    return value;
}

std::optional<std::string> read_text(const detail::PosixFile& bytes, hid_t object, const char* name,
                                     std::string_view subject) {
    const AttributeHandle attribute = open_attribute(object, name, subject);
    if (attribute < 0) return std::nullopt;
    const TypeHandle type(H5Aget_type(attribute));
    if (!is_text(attribute, type)) throw file_error(subject, expectation(name, "one string"));
    const bool is_variable = H5Tis_variable_str(type) > 0;
    if (is_variable) {
        if (auto stored = stored_text(bytes, object, name, subject)) return stored;
    }
    std::string text;
    const auto read = is_variable ? read_variable_length : read_fixed_length;
    checked(read(attribute, type, text), subject, expectation(name, "one string"));
    return text;
}

void write_attribute(hid_t object, const char* name, double value, std::string_view subject) {
    write_value(object, name, H5T_NATIVE_DOUBLE, &value, subject);
}

void write_attribute(hid_t object, const char* name, float value, std::string_view subject) {
    write_value(object, name, H5T_NATIVE_FLOAT, &value, subject);
}

void write_attribute(hid_t object, const char* name, int value, std::string_view subject) {
    write_value(object, name, H5T_NATIVE_INT, &value, subject);
}

void write_attribute(hid_t object, const char* name, std::uint64_t value, std::string_view subject) {
    write_value(object, name, H5T_NATIVE_UINT64, &value, subject);
}

void write_attribute(hid_t object, const char* name, std::span<const std::uint64_t> values,
                     std::string_view subject) {
    const hsize_t count = values.size();
    const SpaceHandle space(H5Screate_simple(1, &count, nullptr));
    const std::uint64_t none = 0;
    write_values(object, name, H5T_NATIVE_UINT64, space, values.empty() ? &none : values.data(), subject);
}

void write_attribute(hid_t object, const char* name, std::string_view value, std::string_view subject) {
    // Variable length and UTF-8: h5py reads it as str.
    const TypeHandle type(H5Tcopy(H5T_C_S1));
    H5Tset_size(type, H5T_VARIABLE);
    H5Tset_cset(type, H5T_CSET_UTF8);
    const std::string text(value);
    const char* const data = text.c_str();
    write_value(object, name, type, &data, subject);
}

bool StoredAttribute::is_equal(const StoredAttribute& other) const {
    if (type < 0 || other.type < 0) return type < 0 && other.type < 0 && text == other.text;
    return H5Tequal(type, other.type) > 0 && dimensions == other.dimensions && numbers == other.numbers;
}

std::optional<StoredAttribute> read_attribute(const detail::PosixFile& bytes, hid_t object, const char* name,
                                              std::string_view subject) {
    const AttributeHandle attribute = open_attribute(object, name, subject);
    if (attribute < 0) return std::nullopt;
    StoredAttribute value;
    value.type = TypeHandle(H5Aget_type(attribute));
    const H5T_class_t kind = H5Tget_class(value.type);
    if (kind == H5T_STRING) return StoredAttribute{.text = *read_text(bytes, object, name, subject)};
    const std::string_view expected = "text or some numbers";
    const SpaceHandle space(H5Aget_space(attribute));
    const hssize_t count = H5Sget_simple_extent_npoints(space);
    const int rank = H5Sget_simple_extent_ndims(space);
    const std::size_t size = H5Tget_size(value.type);
    if ((kind != H5T_INTEGER && kind != H5T_FLOAT) || size > sizeof(double) || count < 0 ||
        count > H5S_MAX_RANK || rank < 0)
        throw file_error(subject, expectation(name, expected));
    value.dimensions.resize(static_cast<std::size_t>(rank));
    H5Sget_simple_extent_dims(space, value.dimensions.data(), nullptr);
    value.numbers.resize(static_cast<std::size_t>(count) * size);
    if (count > 0)
        checked(H5Aread(attribute, value.type, value.numbers.data()), subject, expectation(name, expected));
    return value;
}

void write_attribute(hid_t object, const char* name, const StoredAttribute& value, std::string_view subject) {
    if (value.type < 0) return write_attribute(object, name, std::string_view(value.text), subject);
    const auto rank = static_cast<int>(value.dimensions.size());
    const SpaceHandle space(rank == 0 ? H5Screate(H5S_SCALAR)
                                      : H5Screate_simple(rank, value.dimensions.data(), nullptr));
    const std::byte none{};
    write_values(object, name, value.type, space, value.numbers.empty() ? &none : value.numbers.data(),
                 subject);
}

}  // namespace phy::hdf5
