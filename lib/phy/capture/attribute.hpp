#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "phy/capture/handle.hpp"

namespace phy::hdf5 {

/// Attributes as FileErrors of `subject` see them. An attribute that is not there is empty, one of another
/// type is an error.
std::optional<double> read_number(hid_t object, const char* name, std::string_view subject);
std::optional<std::string> read_text(hid_t object, const char* name, std::string_view subject);

/// read_text(), but an attribute of another type is as none.
std::optional<std::string> read_if_text(hid_t object, const char* name, std::string_view subject);

void write_attribute(hid_t object, const char* name, double value, std::string_view subject);
void write_attribute(hid_t object, const char* name, float value, std::string_view subject);
void write_attribute(hid_t object, const char* name, int value, std::string_view subject);
void write_attribute(hid_t object, const char* name, std::string_view value, std::string_view subject);

}  // namespace phy::hdf5
