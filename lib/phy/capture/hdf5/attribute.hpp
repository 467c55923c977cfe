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

/// In alphabetical order.
std::vector<std::string> attribute_names(hid_t object, std::string_view subject);

/// A value for comparison: the class of its type, and its text or its bytes.
std::string attribute_bytes(hid_t object, const std::string& name, std::string_view subject);

/// Creates the attributes of an object at another one, without those that are left out.
void copy_attributes(hid_t from, hid_t to, std::string_view subject,
                     const std::vector<std::string_view>& left_out);

}  // namespace phy::hdf5
