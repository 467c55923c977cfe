#include "phy/capture/hdf5/attribute.hpp"

#include <algorithm>
#include <cstring>

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

std::vector<std::string> attribute_names(hid_t object, std::string_view subject) {
    constexpr const char* problem = "attributes cannot be read";
    std::vector<std::string> names;
    H5O_info_t object_info{};
    checked(H5Oget_info(object, &object_info), subject, problem);
    for (hsize_t i = 0; i < object_info.num_attrs; ++i) {
        const AttributeHandle attribute(
            checked(H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT),
                    subject, problem));
        std::string name(static_cast<std::size_t>(H5Aget_name(attribute, 0, nullptr)), '\0');
        H5Aget_name(attribute, name.size() + 1, name.data());
        names.push_back(name);
    }
    return names;
}

namespace {

/// The value of an attribute in memory, as H5Aread() gives it.
class StoredValue {
public:
    StoredValue(hid_t object, const std::string& name, std::string_view subject)
        : attribute_(open_attribute(object, name.c_str(), subject)),
          type_(H5Aget_type(attribute_)),
          space_(H5Aget_space(attribute_)) {
        const auto values = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space_));
        bytes_.resize(values * H5Tget_size(type_));
        if (!bytes_.empty())
            checked(H5Aread(attribute_, type_, bytes_.data()), subject,
                    "attribute " + name + " cannot be read");
    }
    ~StoredValue() {
        if (!bytes_.empty() && is_text()) H5Dvlen_reclaim(type_, space_, H5P_DEFAULT, bytes_.data());
    }
    StoredValue(const StoredValue&) = delete;
    StoredValue& operator=(const StoredValue&) = delete;

    [[nodiscard]] bool is_text() const { return H5Tis_variable_str(type_) > 0; }
    [[nodiscard]] hid_t type() const { return type_; }
    [[nodiscard]] hid_t space() const { return space_; }
    [[nodiscard]] const std::vector<char>& bytes() const { return bytes_; }

private:
    AttributeHandle attribute_;
    TypeHandle type_;
    SpaceHandle space_;
    std::vector<char> bytes_;
};

}  // namespace

std::string attribute_bytes(hid_t object, const std::string& name, std::string_view subject) {
    const StoredValue value(object, name, subject);
    std::string text = std::to_string(static_cast<int>(H5Tget_class(value.type()))) + " ";
    if (!value.is_text()) return text.append(value.bytes().begin(), value.bytes().end());
    for (std::size_t i = 0; i + sizeof(char*) <= value.bytes().size(); i += sizeof(char*)) {
        const char* each = nullptr;
        std::memcpy(&each, value.bytes().data() + i, sizeof each);
        if (each != nullptr) text += each;
        text += '\0';
    }
    return text;
}

void copy_attributes(hid_t from, hid_t to, std::string_view subject,
                     const std::vector<std::string_view>& left_out) {
    for (const std::string& name : attribute_names(from, subject)) {
        if (std::ranges::find(left_out, name) != left_out.end()) continue;
        const StoredValue value(from, name, subject);
        const char none = 0;
        write_values(to, name.c_str(), value.type(), value.space(),
                     value.bytes().empty() ? &none : value.bytes().data(), subject);
    }
}

}  // namespace phy::hdf5
