#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "phy/capture/flat/posix_file.hpp"
#include "phy/capture/hdf5/handle.hpp"

namespace phy::hdf5 {

/// Attributes of an object; `subject` names it in a FileError. A missing attribute is empty; one of another
/// type is an error. bytes: those of the file.
std::optional<double> read_number(hid_t object, const char* name, std::string_view subject);
std::optional<std::string> read_text(const detail::PosixFile& bytes, hid_t object, const char* name,
                                     std::string_view subject);

void write_attribute(hid_t object, const char* name, double value, std::string_view subject);
void write_attribute(hid_t object, const char* name, float value, std::string_view subject);
void write_attribute(hid_t object, const char* name, int value, std::string_view subject);
void write_attribute(hid_t object, const char* name, std::uint64_t value, std::string_view subject);
void write_attribute(hid_t object, const char* name, std::string_view value, std::string_view subject);

/// An array of one dimension, which may be empty.
void write_attribute(hid_t object, const char* name, std::span<const std::uint64_t> values,
                     std::string_view subject);

/// The value of an attribute: text, or numbers in their own type.
struct StoredAttribute {
    std::string text = {};
    TypeHandle type = {};  ///< of numbers; invalid: text
    Dimensions dimensions = {};
    std::vector<std::byte> numbers = {};

    [[nodiscard]] bool is_equal(const StoredAttribute& other) const;
};

/// Empty if it is missing. Throws FileError for other types, and for more numbers than HDF5 has dimensions.
std::optional<StoredAttribute> read_attribute(const detail::PosixFile& bytes, hid_t object, const char* name,
                                              std::string_view subject);
void write_attribute(hid_t object, const char* name, const StoredAttribute& value, std::string_view subject);

}  // namespace phy::hdf5
